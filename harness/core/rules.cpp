#include "rules.hpp"

#include <algorithm>

#include "memory.hpp"
#include "rule_group.hpp"

namespace synthesis {

namespace {

std::vector<RuleGroup> groups_of(const std::vector<RuleText>& rules, bool across, Machine& machine) {
    std::vector<RuleText> chosen;
    for (const RuleText& rule : rules)
        if (rule.crosses_sentences == across) chosen.push_back(rule);
    std::vector<RuleGroup> groups;
    const RuleText* const end = chosen.data() + chosen.size();
    for (const RuleText* first = chosen.data(); first != end;) {
        const RuleText* const last = first + std::min<ptrdiff_t>(end - first, Patterns::most);
        groups.emplace_back(first, last, machine);
        first = last;
    }
    return groups;
}

// Of each rule no more places than are listed.
void cut(std::vector<Hit>& hits) {
    std::vector<int32_t> counts;
    std::erase_if(hits, [&](const Hit& hit) {
        if (hit.rule >= static_cast<int32_t>(counts.size())) counts.resize(hit.rule + 1);
        return ++counts[hit.rule] > most_hits;
    });
}

}  // namespace

struct RuleSets::Parts {
    int number;
    Machine& machine;
    std::vector<RuleGroup> within, across;
    Reading whole;  // the text as one sentence
    std::vector<Place> places;

    ReadLine read(Reading& reading, size_t number, View text) {
        return reading.line(number, text, machine.alphabet, machine.words);
    }

    bool crosses(int set) const {
        return std::any_of(across.begin(), across.end(), [set](const RuleGroup& group) { return group.has(set); });
    }

    const std::vector<Place>& search(std::vector<RuleGroup>& groups, const ReadLine& line, Steps& steps) {
        places.clear();
        for (RuleGroup& group : groups) group.search(line, steps, places);
        std::sort(places.begin(), places.end(), [](const Place& one, const Place& two) {
            if (one.start != two.start) return one.start < two.start;
            return one.end != two.end ? one.end < two.end : one.rule < two.rule;
        });
        return places;
    }
};

RuleSets::RuleSets(int number, const std::vector<RuleText>& rules, Machine& machine)
    : parts_(new Parts{number, machine, groups_of(rules, false, machine), groups_of(rules, true, machine), {}, {}}) {}

RuleSets::~RuleSets() = default;

void RuleSets::finish() {
    for (RuleGroup& group : parts_->within) group.finish();
    for (RuleGroup& group : parts_->across) group.finish();
}

void RuleSets::forget() {
    for (RuleGroup& group : parts_->within) group.forget();
    for (RuleGroup& group : parts_->across) group.forget();
}

void RuleSets::hits(const Searched& searched, int set, Memory& memory, std::vector<Hit>& found) const {
    Parts& parts = *parts_;
    const Folded& folded = searched.folded;
    Steps steps(searched.view);
    found.clear();
    auto add = [&](const std::vector<Place>& places, int32_t offset) {
        for (const Place& place : places) {
            if (place.set != set) continue;
            const Span span = folded.origin(place.start + offset, place.end + offset);
            found.push_back({span.start, span.end, place.rule, place.group, searched.by_user});
        }
    };
    for (size_t number = 0; number < folded.lines.size(); ++number) {
        const Span line = folded.lines[number];
        Sentence& sentence = *searched.sentences[number];
        std::vector<Place>& places = sentence.places[parts.number];
        if (!sentence.searched[parts.number]) {
            const View text = searched.view.substr(line.start, line.end - line.start);
            const auto& all = parts.search(parts.within, parts.read(searched.reading, number, text), steps);
            places.assign(all.begin(), all.end());
            sentence.searched[parts.number] = true;
            memory.grew(places.capacity() * sizeof(Place));
        }
        add(places, line.start);
    }
    const bool crosses = parts.crosses(set);
    if (crosses) {
        parts.whole.begin(1);
        add(parts.search(parts.across, parts.read(parts.whole, 0, searched.view), steps), 0);
    }
    if (crosses || !folded.places.empty()) std::stable_sort(found.begin(), found.end());
    if (found.size() > most_hits) cut(found);
}

struct Pattern::Parts {
    Machine& machine;
    Automaton automaton;
    std::vector<uint8_t> classes;
};

Pattern::Pattern(View pattern, Machine& machine)
    : parts_(new Parts{machine, Automaton(Tree(pattern), machine.alphabet, machine.bytes), {}}) {}

Pattern::~Pattern() = default;

void Pattern::reset() { parts_->automaton.reset(); }

int32_t Pattern::last_end(View text) const {
    Parts& parts = *parts_;
    const Alphabet& alphabet = parts.machine.alphabet;
    const auto size = static_cast<int32_t>(text.size());
    parts.classes.resize(text.size() + 1);
    for (int32_t at = 0; at < size; ++at) parts.classes[at] = alphabet.class_of(text[at]);
    parts.classes[size] = alphabet.end();
    Steps steps(text);
    int32_t last = -1;
    Before before = text_start;
    for (int32_t at = 0; at < size; ++at) {
        const int32_t end = at < last ? -1 : parts.automaton.match(Automaton::start(before), parts.classes.data(), at, steps.taken);
        if (end > at) last = end;
        before = alphabet.kind_of(parts.classes[at]);
        steps.check();
    }
    return last;
}

}  // namespace synthesis
