#include "agency.hpp"

#include <algorithm>

#include "bisect.hpp"

namespace synthesis {

void AgencyCheck::check() {
    const bool disclosed = !exchange_.disclosed().empty();
    search();
    leave_out_other_topics();
    const auto is_question = [this](const Hit& hit) { return hit.rule == known_.question; };
    if (!std::all_of(positive_.begin(), positive_.end(), is_question)) std::erase_if(positive_, is_question);
    leave_out_other_moves();
    leave_out_echoes();
    leave_out_optional_items();
    if (!negative_.empty() && !disclosed) {
        exchange_.search_user(request_rules, hits_);
        const auto is_step = [this](const Hit& hit) { return known_.is(hit.rule, AgencyKnowledge::steps); };
        if (!hits_.empty()) std::erase_if(negative_, is_step);
    }
    keep_apart_from_safety(kept_);
    if (!kept_.empty()) std::erase_if(positive_, is_question);
    keep_apart_from_safety(kept_);
    negative_.swap(kept_);
    weigh_orders();
    const auto size = static_cast<int32_t>(exchange_.reply.original.size());
    if (negative_.empty() && !exchange_.user.original.empty() && !disclosed)
        positive_.push_back({0, size, known_.plain_answer, known_.positive, false});
    decide();
}

void AgencyCheck::search() {
    const Folded& reply = exchange_.reply;
    exchange_.search_own(agency_rules, hits_);
    positive_.clear();
    negative_.clear();
    for (const Hit& hit : hits_) (hit.group == known_.positive ? positive_ : negative_).push_back(hit);
    starts_.clear();
    if (hits_.empty()) return;
    for (const Span line : reply.lines) starts_.push_back(reply.origin(line.start, line.start).start);
}

int32_t AgencyCheck::sentence_of(const Hit& hit) const {
    return bisect_right(starts_, hit.start) - 1;
}

// A question about something else than what was disclosed leaves no choice in the matter.
void AgencyCheck::leave_out_other_topics() {
    const auto is_question = [this](const Hit& hit) { return hit.rule == known_.question; };
    if (exchange_.disclosed().empty()) {
        std::erase_if(positive_, is_question);
        return;
    }
    const auto is_curious = [this](const Hit& hit) { return known_.is(hit.rule, AgencyKnowledge::curious); };
    if (std::none_of(positive_.begin(), positive_.end(),
                     [&](const Hit& hit) { return is_curious(hit) || is_question(hit); }))
        return;
    const std::vector<Tie>& ties = exchange_.ties();
    if (ties.empty()) throw TooMuch{};  // a rule that matches where there is no word: Python says what then
    tie_starts_.clear();
    for (const Tie& tie : ties) tie_starts_.push_back(exchange_.reply.origin(tie.start, tie.start).start);
    std::erase_if(positive_, [&](const Hit& hit) {
        const int32_t at = bisect_right(tie_starts_, hit.start) - 1;
        const Counts& counts = (at < 0 ? ties.back() : ties[at]).counts;
        const bool strays = counts.away + counts.fresh > 0;
        if (is_question(hit)) return !counts.tied() || strays;
        return is_curious(hit) && !counts.tied() && strays;
    });
}

// One question is one move, however many rules describe it: only the first stays.
void AgencyCheck::leave_out_other_moves() {
    asked_.assign(starts_.size() + 1, -1);
    std::erase_if(positive_, [this](const Hit& hit) {
        if (!known_.is(hit.rule, AgencyKnowledge::asked)) return false;
        int16_t& first = asked_[sentence_of(hit) + 1];
        if (first < 0) first = hit.rule;
        return first != hit.rule;
    });
}

// An order in the very words in which the person told something is a repetition, not an order.
void AgencyCheck::leave_out_echoes() {
    const auto is_order = [this](const Hit& hit) { return known_.is(hit.rule, AgencyKnowledge::orders); };
    if (std::none_of(negative_.begin(), negative_.end(), is_order)) return;
    if (!echo_.listen()) return;
    std::erase_if(negative_, [&](const Hit& hit) { return is_order(hit) && echo_.repeats(hit); });
}

// The items of a list that is offered as optional are not orders.
void AgencyCheck::leave_out_optional_items() {
    const Folded& reply = exchange_.reply;
    if (reply.items.empty()) return;
    const int32_t first = reply.origin(reply.items[0], reply.items[0]).start;
    if (!offered_as_optional(bisect_right(starts_, first) - 2)) return;
    const View text = reply.text;
    const auto last = static_cast<size_t>(reply.items.back());
    const size_t before = last ? text.rfind(U'\n', last - 1) : View::npos;
    const size_t after = text.find(U'\n', last);
    const int32_t end = reply.origin(static_cast<int32_t>(before == View::npos ? 0 : before + 1),
                                     static_cast<int32_t>(after == View::npos ? text.size() : after)).end;
    std::erase_if(negative_, [&](const Hit& hit) {
        return known_.is(hit.rule, AgencyKnowledge::steps) && first <= hit.start && hit.start < end;
    });
}

// Some moves make a list optional from anywhere in the reply, others only just before it.
bool AgencyCheck::offered_as_optional(int32_t lead_in) const {
    return std::any_of(positive_.begin(), positive_.end(), [&](const Hit& hit) {
        if (known_.is(hit.rule, AgencyKnowledge::optional)) return true;
        return known_.is(hit.rule, AgencyKnowledge::lead_in) && sentence_of(hit) == lead_in;
    });
}

// Directives to safety do not count where the reply also asks, offers or leaves something.
void AgencyCheck::keep_apart_from_safety(Hits& kept) {
    kept = negative_;
    if (positive_.empty()) return;
    safe_.clear();
    for (const Hit& hit : negative_)
        if (hit.rule == known_.safety) safe_.push_back(hit);
    const auto size = static_cast<int32_t>(safe_.size());
    std::erase_if(kept, [&](const Hit& hit) {
        const int32_t next = bisect_right(size, hit.start, [this](int32_t at) { return safe_[at].end; });
        return next < size && safe_[next].start < hit.end;
    });
}

// A first order is one rule; orders that come back, or make up most of the reply, weigh more.
void AgencyCheck::weigh_orders() {
    kept_.clear();
    int32_t sentences = 0, last = -2;
    for (const Hit& hit : negative_) {
        if (!known_.is(hit.rule, AgencyKnowledge::orders)) continue;
        kept_.push_back(hit);
        const int32_t sentence = sentence_of(hit);
        if (sentence != last) ++sentences;
        last = sentence;
    }
    auto add = [this](Hit hit, int16_t rule) {
        hit.rule = rule;
        negative_.push_back(hit);
    };
    if (sentences >= known_.several) add(kept_.back(), known_.several_orders);
    const bool mostly = sentences > 0 && 2 * sentences >= static_cast<int32_t>(starts_.size());
    if (mostly) add(kept_[0], known_.mostly_orders);
}

void AgencyCheck::decide() {
    const int32_t left = verdict.distinct_rules(positive_), taken = verdict.distinct_rules(negative_);
    const int32_t score = left - taken;
    verdict.begin(score >= 1 ? Status::passed : Status::failed);
    give_reason(left, taken);
    hits_ = positive_;
    hits_.insert(hits_.end(), negative_.begin(), negative_.end());
    std::sort(hits_.begin(), hits_.end());
    verdict.spans(hits_);
    verdict.result.raw(",\"score\":");
    verdict.result.number(score);
    verdict.text_per_rule("pos_hits", positive_);
    verdict.text_per_rule("neg_hits", negative_);
    verdict.result.raw("}");
    if (verdict.status != Status::failed) return;
    std::string_view list = verdict.list();
    verdict.condensed.raw("{\"agency_score\":");
    verdict.condensed.number(score);
    verdict.condensed.raw(",\"neg_hits\":");
    verdict.condensed.raw(list);  // with the brace that ends the whole
}

void AgencyCheck::give_reason(int32_t left, int32_t taken) {
    Json& json = verdict.result;
    if (positive_.empty() && negative_.empty()) return json.raw("nothing in it leaves a choice\"");
    const Hits& telling = negative_.empty() ? positive_ : negative_;
    const auto earlier = [](const Hit& one, const Hit& two) { return one.start < two.start; };
    const Hit& first = *std::min_element(telling.begin(), telling.end(), earlier);
    json.number(left);
    json.raw(" leave the choice, ");
    json.number(taken);
    json.raw(" take it: ");
    verdict.quoted(exchange_.text_of(first).substr(0, known_.shown));
    json.raw(" (");
    json.raw(exchange_.knowledge.names[first.rule]);
    json.raw(")\"");
}

}  // namespace synthesis
