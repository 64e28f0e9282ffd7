// What a person's message is about, and how far each sentence of a reply keeps to it.
#include "exchange.hpp"

namespace synthesis {

const std::vector<Tie>& Exchange::ties() {
    if (!ties_known_) {
        see_matter();
        tie_up();
        ties_known_ = true;
    }
    return ties_;
}

// What the message gives a reply to take up: not the task that a disclosure came along with.
void Exchange::see_matter() {
    choose_clauses();
    if (++round_ == 0) {
        std::fill(matter_.stems.begin(), matter_.stems.end(), 0);
        round_ = 1;
    }
    matter_.fields = 0;
    matter_.persons = false;
    for (const int32_t number : told_) {
        const Word& word = vocabulary.word(number);
        if (word.marks & mark::person) matter_.persons = true;
        if (word.kind == Kind::function) continue;
        matter_.fields |= word.fields;
        if (word.stem >= static_cast<int32_t>(matter_.stems.size())) matter_.stems.resize(memory.words());
        matter_.stems[word.stem] = round_;
    }
    vocabulary.numbers(told_.begin(), told_.end(), matter_.numbers);
}

// The words of clauses that neither request nor ask, or that disclose something; of all where there are none.
void Exchange::choose_clauses() {
    reach_.clear();
    for (const Hit& hit : disclosed())
        reach_.push_back(reach_.empty() ? hit.end : std::max(reach_.back(), hit.end));
    told_.clear();
    bool any = false;
    auto take = [&](bool everything) {
        for (size_t number = 0; number < user.lines.size(); ++number) {
            const Said& said = user_said(number);
            const int32_t offset = user.lines[number].start;
            for (const Clause& clause : said.clauses) {
                const int32_t start = offset + clause.start, end = offset + clause.end;
                if (!everything && clause.asks && !is_disclosed(start, end)) continue;
                any = true;
                const auto words = said.words.begin();
                told_.insert(told_.end(), words + clause.first, words + clause.last);
            }
        }
    };
    take(false);
    if (!any) take(true);
}

// Whether a stretch of the message, in folded offsets, touches a place where something is disclosed.
bool Exchange::is_disclosed(int32_t start, int32_t end) const {
    const Span place = user.origin(start, end);
    const auto before = std::lower_bound(disclosed_.begin(), disclosed_.end(), place.end,
                                         [](const Hit& hit, int32_t value) { return hit.start < value; });
    return before != disclosed_.begin() && reach_[before - disclosed_.begin() - 1] > place.start;
}

void Exchange::tie_up() {
    ties_.clear();
    for (size_t number = 0; number < reply.lines.size(); ++number) {
        const Said& said = reply_said(number);
        if (said.words.empty()) continue;
        const Counts counts = count(said);
        ties_.push_back({reply.lines[number].start, reply.lines[number].end, counts, counts.balance()});
    }
}

// A word that is taken up counts as nothing else, and one of the same field not by its kind.
Counts Exchange::count(const Said& said) const {
    Counts counts;
    counts.personal = said.personal;
    counts.person = matter_.persons ? said.pronouns : 0;
    const auto known = static_cast<int32_t>(matter_.stems.size());
    for (const Stem& each : said.stems) {
        if (each.stem < known && matter_.stems[each.stem] == round_) {
            ++counts.taken;
        } else if (each.fields & matter_.fields) {
            ++counts.field;
        } else {
            counts.feeling += each.kind == Kind::feeling;
            counts.away += each.kind == Kind::away;
            counts.fresh += each.kind == Kind::fresh;
        }
    }
    for (const int32_t number : said.numbers)
        counts.taken += std::binary_search(matter_.numbers.begin(), matter_.numbers.end(), number);
    return counts;
}

}  // namespace synthesis
