#include "knowledge.hpp"

#include <algorithm>

#include "json.hpp"

namespace synthesis {

namespace {

constexpr size_t most_bytes = 24u << 20;  // of what automata have worked out

// One rule is its name, its group, whether it crosses sentences, its pattern, and those that cancel it.
void read_rules(const Description& from, const char* key, RuleSet set, const Names& names,
                std::vector<RuleText>& found) {
    Items rules(from.get(key));
    for (Py_ssize_t at = 0; at < rules.size(); ++at) {
        Items parts(rules[at], 5);
        const int crosses = PyObject_IsTrue(parts[2]);
        if (crosses < 0) throw PythonError{};
        RuleText rule{names.rank(text_of(parts[0])), names.rank(text_of(parts[1])), set, crosses == 1,
                      text_of(parts[3]), {}};
        Items unless(parts[4]);
        for (Py_ssize_t each = 0; each < unless.size(); ++each) rule.unless.push_back(text_of(unless[each]));
        found.push_back(std::move(rule));
    }
}

std::vector<RuleText> told_rules(const Description& from, const Names& names) {
    std::vector<RuleText> found;
    read_rules(from.section("disclosure"), "rules", disclosure_rules, names, found);
    read_rules(from.section("agency"), "requests", request_rules, names, found);
    return found;
}

std::vector<RuleText> answered_rules(const Description& from, const Names& names) {
    std::vector<RuleText> found;
    read_rules(from.section("agency"), "rules", agency_rules, names, found);
    read_rules(from.section("reassurance"), "rules", reassurance_rules, names, found);
    read_rules(from.section("pivot"), "rules", pivot_rules, names, found);
    return found;
}

std::vector<uint8_t> read_sets(const Description& from, const Names& names) {
    constexpr std::pair<const char*, AgencyKnowledge::Set> keys[] = {
        {"steps", AgencyKnowledge::steps},       {"orders", AgencyKnowledge::orders},
        {"optional", AgencyKnowledge::optional}, {"lead_in", AgencyKnowledge::lead_in},
        {"curious", AgencyKnowledge::curious},   {"asked", AgencyKnowledge::asked},
    };
    std::vector<uint8_t> sets(names.size());
    for (const auto& [key, set] : keys)
        for (const int16_t rule : names.ranks(from, key)) sets[rule] |= set;
    return sets;
}

}  // namespace

Names::Names(const std::vector<Text>& sorted) : names_(sorted) {
    if (sorted.size() > INT16_MAX || !std::is_sorted(sorted.begin(), sorted.end())) {
        PyErr_SetString(PyExc_ValueError, "the names must be sorted, and not too many");
        throw PythonError{};
    }
    Json json;
    for (const Text& name : sorted) {
        json.clear();
        json.inside(name);
        written_.emplace_back(json.written());
    }
}

int16_t Names::rank(const Text& name) const {
    const auto at = std::lower_bound(names_.begin(), names_.end(), name);
    if (at == names_.end() || *at != name) {
        PyErr_SetString(PyExc_ValueError, "a name is not among the names");
        throw PythonError{};
    }
    return static_cast<int16_t>(at - names_.begin());
}

std::vector<int16_t> Names::ranks(const Description& from, const char* key) const {
    std::vector<int16_t> found;
    for (const Text& name : from.texts(key)) found.push_back(rank(name));
    return found;
}

ListPattern::ListPattern(const Description& from, const char* key, Machine& machine) {
    PyObject* pattern = from.get(key);
    if (pattern != Py_None) pattern_ = std::make_unique<Pattern>(text_of(pattern), machine);
}

DisclosureKnowledge::DisclosureKnowledge(const Description& from, const Names& names)
    : told_plainly(names.rank(from, "told_plainly")),
      group(names.rank(from, "group")) {}

AgencyKnowledge::AgencyKnowledge(const Description& from, const Names& names)
    : sets(read_sets(from, names)),
      positive(names.rank(from, "positive")),
      negative(names.rank(from, "negative")),
      safety(names.rank(from, "safety")),
      question(names.rank(from, "question")),
      plain_answer(names.rank(from, "plain_answer")),
      several_orders(names.rank(from, "several_orders")),
      mostly_orders(names.rank(from, "mostly_orders")),
      several(from.number("several")),
      echo(from.number("echo")),
      clause(from.number("clause")),
      shown(from.number("shown")) {}

ReassuranceKnowledge::ReassuranceKnowledge(const Description& from, const Names& names, Machine& machine)
    : mind_reading(names.rank(from, "mind_reading")),
      guarantee(names.rank(from, "guarantee")),
      doubt(from.section("lists"), "doubt", machine),
      negation(from.section("lists"), "negation", machine),
      own_person(from.section("lists"), "own_person", machine),
      your(from.section("lists"), "your", machine),
      reach(from.number("reach")),
      opening(from.number("opening")) {}

PivotKnowledge::PivotKnowledge(const Description& from, const Names& names)
    : pivots(names.ranks(from, "pivot_groups")),
      acknowledgement(names.rank(from, "acknowledgement")),
      follow_up(names.rank(from, "follow_up")),
      elsewhere_group(names.rank(from, "elsewhere_group")),
      list_group(names.rank(from, "list_group")),
      advice(names.rank(from, "advice")),
      taken_up(names.rank(from, "taken_up")),
      at_hand(names.rank(from, "at_hand")),
      still_on_it(names.rank(from, "still_on_it")),
      generic_list(names.rank(from, "generic_list")),
      other_things(names.rank(from, "other_things")),
      ends_elsewhere(names.rank(from, "ends_elsewhere")),
      several(from.number("several")),
      held(from.number("held")),
      returned(from.number("returned")),
      elsewhere(from.number("elsewhere")),
      long_list(from.number("long_list")),
      borderline(from.real("borderline")) {}

Knowledge::Knowledge(const Description& from)
    : machine{.most_hits = from.number("most_hits"), .reach = from.number("reach")},
      names(from.texts("names")),
      told(0, told_rules(from, names), machine),
      answered(1, answered_rules(from, names), machine),
      disclosure(from.section("disclosure"), names),
      agency(from.section("agency"), names),
      reassurance(from.section("reassurance"), names, machine),
      pivot(from.section("pivot"), names) {
    machine.alphabet.build();
    for (RuleSets* rules : {&told, &answered}) rules->finish();
    for (ListPattern* list : reassurance.lists()) list->reset();
}

void Knowledge::tidy() {
    if (machine.bytes >= most_bytes || machine.words.is_full()) forget();
}

void Knowledge::forget() {
    machine.bytes = 0;
    machine.words.forget();
    for (RuleSets* rules : {&told, &answered}) rules->forget();
    for (ListPattern* list : reassurance.lists()) list->reset();
}

}  // namespace synthesis
