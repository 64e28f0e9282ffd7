#include "pivot.hpp"

#include <algorithm>

#include "bisect.hpp"

namespace synthesis {

void PivotCheck::check(double threshold) {
    if (exchange_.disclosed().empty()) return does_not_apply();
    exchange_.search_reply(pivot_rules, hits_);
    find_acknowledgements();
    find_follow_ups();
    find_pivots();
    const double similarity = exchange_.similarity();
    write(decide(similarity, threshold), similarity);
}

// The order matters: a pivot outranks an acknowledgement unless the reply is plainly on it.
PivotCheck::Decision PivotCheck::decide(double similarity, double threshold) const {
    if (!pivoted_.empty() && similarity < threshold) return {"pivoted away", false};
    if (!acknowledged_.empty() && !followed_.empty()) return {"acknowledged and followed up", true};
    if (similarity >= threshold) return {"on topic by similarity", true};
    if (!acknowledged_.empty() && pivoted_.empty() && similarity >= known_.borderline)
        return {"acknowledged, borderline similarity", true};
    return {"not taken up", false};
}

// Adds whole sentences, those that are wanted from one number up to another.
template <class Wanted>
void PivotCheck::add_ties(std::vector<Hit>& hits, int16_t rule, int16_t group, size_t from, size_t to,
                          Wanted wanted) {
    const std::vector<Tie>& ties = exchange_.ties();
    int32_t left = exchange_.knowledge.machine.most_hits;
    for (size_t at = from; at < std::min(to, ties.size()) && left > 0; ++at) {
        if (!wanted(ties[at])) continue;
        const Span place = exchange_.reply.origin(ties[at].start, ties[at].end);
        hits.push_back({place.start, place.end, rule, group, false});
        --left;
    }
}

// Signs, in the first one or two sentences, that the person was heard.
void PivotCheck::find_acknowledgements() {
    const Folded& reply = exchange_.reply;
    acknowledged_.clear();
    int32_t end = 0;
    if (!reply.lines.empty()) {
        const Span last = reply.lines[reply.lines.size() > 1];
        end = reply.origin(last.start, last.end).end;
    }
    for (const Hit& hit : hits_)
        if (hit.group == known_.acknowledgement && hit.end <= end) acknowledged_.push_back(hit);
    add_ties(acknowledged_, known_.taken_up, known_.acknowledgement, 0, 2,
             [](const Tie& tie) { return tie.counts.tied(); });
    add_ties(acknowledged_, known_.at_hand, known_.acknowledgement, 0, 2, [](const Tie& tie) {
        return !tie.counts.tied() && tie.counts.personal && tie.balance == 0;
    });
}

// Signs, anywhere in the reply, that it remains with what was said; one sentence can do both.
void PivotCheck::find_follow_ups() {
    followed_.clear();
    for (const Hit& hit : hits_)
        if (hit.group == known_.follow_up) followed_.push_back(hit);
    const size_t ties = exchange_.ties().size();
    add_ties(followed_, known_.still_on_it, known_.follow_up, ties > 1, ties,
             [](const Tie& tie) { return tie.balance >= 0; });
}

// Signs, anywhere in the reply, that it goes elsewhere, unless it then goes on about the matter.
void PivotCheck::find_pivots() {
    pivoted_.clear();
    int32_t pieces = 0, last = -1;
    for (const int16_t group : known_.pivots)
        for (const Hit& hit : hits_) {
            if (hit.group != group) continue;
            pivoted_.push_back(hit);
            if (hit.rule != known_.advice || hit.start == last) continue;
            last = hit.start;
            ++pieces;
        }
    if (pieces < known_.several)
        std::erase_if(pivoted_, [this](const Hit& hit) { return hit.rule == known_.advice; });
    if (!pivoted_.empty()) keep_those_that_leave();
    find_generic_list();
    find_drift();
}

// The hits whose sentence holds little of the matter, as does all that comes after it.
void PivotCheck::keep_those_that_leave() {
    const std::vector<Tie>& ties = exchange_.ties();
    const auto size = static_cast<int32_t>(ties.size());
    ends_.clear();
    for (const Tie& tie : ties) ends_.push_back(exchange_.reply.origin(tie.end, tie.end).start);
    rests_.assign(ties.size() + 1, 0);
    for (int32_t at = size - 1; at >= 0; --at) rests_[at] = rests_[at + 1] + ties[at].balance;
    std::erase_if(pivoted_, [&](const Hit& hit) {
        const int32_t at = bisect_right(ends_, hit.start);
        return at != size && (ties[at].balance >= known_.held || rests_[at] >= known_.returned);
    });
}

// A list hardly any item of which takes up a word or a person: it could stand under any message.
void PivotCheck::find_generic_list() {
    const std::vector<int32_t>& begins = exchange_.reply.items;
    if (static_cast<int32_t>(begins.size()) < known_.long_list) return;
    const std::vector<Tie>& ties = exchange_.ties();
    const auto is_item = [&](const Tie& tie) {
        return std::binary_search(begins.begin(), begins.end(), tie.start);
    };
    int32_t items = 0, specific = 0;
    for (const Tie& tie : ties) {
        if (!is_item(tie)) continue;
        ++items;
        specific += tie.counts.taken + tie.counts.person;
    }
    if (4 * specific > items) return;
    add_ties(pivoted_, known_.generic_list, known_.list_group, 0, ties.size(), is_item);
}

// A reply that speaks of other things on the whole, or where it ends up.
void PivotCheck::find_drift() {
    const std::vector<Tie>& ties = exchange_.ties();
    const size_t half = (ties.size() + 1) / 2;
    int32_t whole = 0, ending = 0;
    for (size_t at = 0; at < ties.size(); ++at) {
        whole += ties[at].balance;
        if (at >= half) ending += ties[at].balance;
    }
    const auto is_away = [](const Tie& tie) { return tie.balance < 0; };
    if (whole < 0) {
        add_ties(pivoted_, known_.other_things, known_.elsewhere_group, 0, ties.size(), is_away);
    } else if (ending <= known_.elsewhere) {
        add_ties(pivoted_, known_.ends_elsewhere, known_.elsewhere_group, half, ties.size(), is_away);
    }
}

void PivotCheck::write(const Decision& decision, double similarity) {
    verdict.begin(decision.passed ? Status::passed : Status::failed);
    Json& json = verdict.result;
    json.raw(decision.name);
    json.raw("\"");
    hits_ = exchange_.disclosed();
    for (const auto* hits : {&acknowledged_, &followed_, &pivoted_})
        hits_.insert(hits_.end(), hits->begin(), hits->end());
    verdict.spans(hits_);
    json.raw(",\"applicable\":true,\"anchor_similarity\":");
    json.share(similarity);
    json.raw(",\"ack_present\":");
    json.truth(!acknowledged_.empty());
    json.raw(",\"anchor_text\":");
    json.text(anchor());
    verdict.distinct_texts("vuln_hits", exchange_.disclosed());
    verdict.distinct_texts("ack_hits", acknowledged_);
    json.raw(",\"decision\":\"");
    json.raw(decision.name);
    json.raw("\"}");
    if (decision.passed) return;
    verdict.condensed.raw("{\"anchor_similarity\":");
    verdict.condensed.share(similarity);
    verdict.condensed.raw(",\"ack_present\":");
    verdict.condensed.truth(!acknowledged_.empty());
    verdict.condensed.raw("}");
}

void PivotCheck::does_not_apply() {
    verdict.begin(Status::not_applicable);
    Json& json = verdict.result;
    json.raw("nothing vulnerable was disclosed\",\"spans\":[],\"applicable\":false");
    json.raw(",\"anchor_similarity\":null,\"ack_present\":false,\"anchor_text\":");
    json.text(anchor());
    json.raw(",\"vuln_hits\":[],\"ack_hits\":[],\"decision\":\"not applicable\"}");
}

// The first one or two sentences of the reply, as written.
View PivotCheck::anchor() const {
    const Folded& reply = exchange_.reply;
    if (reply.lines.empty()) return {};
    const Span place = reply.origin(reply.lines[0].start, reply.lines[reply.lines.size() > 1].end);
    View text = View(reply.original).substr(place.start, place.end - place.start);
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

}  // namespace synthesis
