#include "reassurance.hpp"

#include <algorithm>

namespace synthesis {

void ReassuranceCheck::check() {
    exchange_.search_own(reassurance_rules, hits_);
    mind_reading_.clear();
    guarantee_.clear();
    for (const Hit& hit : hits_)
        (hit.group == known_.mind_reading ? mind_reading_ : guarantee_).push_back(hit);
    if (!mind_reading_.empty()) leave_out_no_claims();
    decide();
}

// What the person stated themselves, and what the speaker tells of their own people.
void ReassuranceCheck::leave_out_no_claims() {
    stated_.clear();
    for (size_t number = 0; number < exchange_.user.lines.size(); ++number)
        if (!stated(number).empty()) stated_.push_back(stated(number));
    std::erase_if(mind_reading_, [this](const Hit& hit) {
        const Claim& claim = claim_of(exchange_.text_of(hit));
        if (restates(claim)) return true;
        const int32_t from = std::max(0, hit.start - known_.reach);
        return claim.opens_with_pronoun &&
               speaks_of_own(View(exchange_.reply.original).substr(from, hit.start - from));
    });
}

// Of a sentence that states a fact; a person who asks, doubts or denies has not stated it.
std::span<const int32_t> ReassuranceCheck::stated(size_t number) {
    Claim& claim = exchange_.user_claim(number);
    if (claim.stated_known) return claim.stated;
    const View text = exchange_.user.line(number);
    if (!text.ends_with(U'?') && !known_.doubt.search(text) && !known_.negation.search(text))
        claim.stated = stems_of(text);
    claim.stated_known = true;
    return claim.stated;
}

// Stems of a claim; a denial has none: it never restates, it answers what was said.
const Claim& ReassuranceCheck::claim_of(View text) {
    Claim& claim = exchange_.memory.claim(exchange_.memory.sentence(text));
    if (claim.claimed_known) return claim;
    const Folded& plain = folded(text);
    if (!known_.negation.search(plain.text)) claim.claimed = stems_of(plain.text);
    int32_t words = 0;
    each_word(plain.text, [&](int32_t start, int32_t end) {
        if (++words > known_.opening) return;
        const int32_t word = exchange_.memory.word(View(plain.text).substr(start, end - start));
        if (exchange_.vocabulary.word(word).marks & mark::third) claim.opens_with_pronoun = true;
    });
    claim.claimed_known = true;
    return claim;
}

// Whether every word that says something was said by the person, in one sentence.
bool ReassuranceCheck::restates(const Claim& claim) const {
    if (claim.claimed.empty()) return false;
    return std::any_of(stated_.begin(), stated_.end(), [&](std::span<const int32_t> said) {
        return std::includes(said.begin(), said.end(), claim.claimed.begin(), claim.claimed.end());
    });
}

// Whether the pronoun's nearest person is the speaker's own: "My mum had it too. She was scared.".
// What stands before a claim hardly ever comes back, so it is not remembered.
bool ReassuranceCheck::speaks_of_own(View before) {
    const View plain = folded(before).text;
    const int32_t end = known_.own_person.last_end(plain);
    return end >= 0 && !known_.your.search(plain.substr(end));
}

std::span<const int32_t> ReassuranceCheck::stems_of(View text) {
    stems_.clear();
    each_word(text, [&](int32_t start, int32_t end) {
        const int32_t word = exchange_.memory.word(text.substr(start, end - start));
        const int32_t stem = exchange_.vocabulary.word(word).claim_stem;
        if (stem >= 0) stems_.push_back(stem);
    });
    std::sort(stems_.begin(), stems_.end());
    stems_.erase(std::unique(stems_.begin(), stems_.end()), stems_.end());
    return exchange_.memory.keep(stems_);
}

const Folded& ReassuranceCheck::folded(View text) {
    exchange_.piece.original = text;
    if (!fold(exchange_.piece)) throw TooMuch{};
    return exchange_.piece;
}

void ReassuranceCheck::decide() {
    hits_ = mind_reading_;
    hits_.insert(hits_.end(), guarantee_.begin(), guarantee_.end());
    std::sort(hits_.begin(), hits_.end());
    verdict.begin(hits_.empty() ? Status::passed : Status::failed);
    if (hits_.empty()) {
        verdict.result.raw("no unverifiable claim");
    } else {
        verdict.quoted(exchange_.text_of(hits_[0]));
        verdict.result.raw(" (");
        verdict.result.raw(exchange_.knowledge.names[hits_[0].rule]);
        verdict.result.raw(")");
    }
    verdict.result.raw("\"");
    verdict.spans(hits_);
    Json& condensed = verdict.condensed;
    auto list = [&](const char* name, std::string_view condensed_name, const std::vector<Hit>& hits) {
        verdict.distinct_texts(name, hits);
        if (hits.empty()) return;
        condensed.raw(condensed.written().empty() ? "{\"" : ",\"");
        condensed.raw(condensed_name);
        condensed.raw("\":");
        condensed.raw(verdict.list());
    };
    list("hits", "reassurance_hits", hits_);
    list("mind_reading_hits", "mind_reading_hits", mind_reading_);
    list("guarantee_hits", "guarantee_hits", guarantee_);
    verdict.result.raw("}");
    if (!hits_.empty()) condensed.raw("}");
}

}  // namespace synthesis
