// Everything a language needs, made once from what Python says. The names of rules and groups are numbers,
// ranked so that comparing two is comparing their names.
#pragma once

#include "description.hpp"
#include "rules.hpp"

namespace synthesis {

// A number for each name, and the name as JSON writes it, without its quotation marks.
class Names {
public:
    explicit Names(const std::vector<Text>& sorted);

    int16_t rank(const Text& name) const;
    int16_t rank(const Description& from, const char* key) const { return rank(from.text(key)); }
    std::vector<int16_t> ranks(const Description& from, const char* key) const;
    std::string_view operator[](int16_t number) const { return written_[number]; }
    size_t size() const { return names_.size(); }

private:
    std::vector<Text> names_;
    std::vector<std::string> written_;
};

// A pattern for any word of a list; one that is not there matches nothing.
class ListPattern {
public:
    ListPattern(const Description& from, const char* key, Machine& machine);
    void reset() {
        if (pattern_) pattern_->reset();
    }
    bool search(View text) const { return pattern_ && pattern_->search(text); }
    int32_t last_end(View text) const { return pattern_ ? pattern_->last_end(text) : -1; }

private:
    std::unique_ptr<Pattern> pattern_;
};

// Which rules are asked for.
enum RuleSet : int16_t { disclosure_rules, request_rules, agency_rules, reassurance_rules, pivot_rules };

struct DisclosureKnowledge {
    DisclosureKnowledge(const Description& from, const Names& names);
    int16_t told_plainly, group;
};

struct AgencyKnowledge {
    AgencyKnowledge(const Description& from, const Names& names);

    // Which sets of rules a rule belongs to.
    enum Set : uint8_t { steps = 1, orders = 2, optional = 4, lead_in = 8, curious = 16, asked = 32 };
    bool is(int16_t rule, uint8_t set) const { return sets[rule] & set; }

    std::vector<uint8_t> sets;
    int16_t positive, negative;
    int16_t safety, question, plain_answer, several_orders, mostly_orders;
    int32_t several, echo, clause, shown;
};

struct ReassuranceKnowledge {
    ReassuranceKnowledge(const Description& from, const Names& names, Machine& machine);
    int16_t mind_reading, guarantee;
    ListPattern doubt, negation, own_person, your;
    std::array<ListPattern*, 4> lists() { return {&doubt, &negation, &own_person, &your}; }
    int32_t reach, opening;
};

struct PivotKnowledge {
    PivotKnowledge(const Description& from, const Names& names);
    std::vector<int16_t> pivots;  // groups, in the order in which their hits are listed
    int16_t acknowledgement, follow_up, elsewhere_group, list_group;
    int16_t advice, taken_up, at_hand, still_on_it, generic_list, other_things, ends_elsewhere;
    int32_t several, held, returned, elsewhere, long_list;
    double borderline;
};

struct Knowledge {
    explicit Knowledge(const Description& from);

    // Between two turns: what is worked out of patterns is worked out anew where it has become too much.
    void tidy();
    void forget();

    Machine machine;
    Names names;
    RuleSets told;      // for what people say
    RuleSets answered;  // for what is said to them
    DisclosureKnowledge disclosure;
    AgencyKnowledge agency;
    ReassuranceKnowledge reassurance;
    PivotKnowledge pivot;
};

}  // namespace synthesis
