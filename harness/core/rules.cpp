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
void cut(std::vector<Hit>& hits, int32_t most) {
    std::vector<int32_t> counts;
    std::erase_if(hits, [&](const Hit& hit) {
        if (hit.rule >= static_cast<int32_t>(counts.size())) counts.resize(hit.rule + 1);
        return ++counts[hit.rule] > most;
    });
}

}  // namespace

struct RuleSets::Parts {
    int number;
    Machine& machine;
    std::vector<RuleGroup> within, across;
    std::vector<uint8_t> classes;  // of a text as one sentence
    std::vector<Place> places;

    bool crosses(int set) const {
        return std::any_of(across.begin(), across.end(), [set](const RuleGroup& group) { return group.has(set); });
    }

    const std::vector<Place>& search_within(const ReadLine& line, Steps& steps) {
        places.clear();
        for (RuleGroup& group : within) group.search(line, steps, places);
        return sorted();
    }

    const std::vector<Place>& search_across(const Searched& searched, Steps& steps) {
        places.clear();
        if (!may_cross(searched)) return places;
        read(searched.view, machine.alphabet.end());
        const ReadLine line{classes.data(), static_cast<int32_t>(searched.view.size()), nullptr, nullptr};
        for (RuleGroup& group : across) group.search_across(line, steps, places);
        return sorted();
    }

    // Whether something across sentences may begin with one of these.
    bool may_cross(const Searched& searched) {
        const Folded& folded = searched.folded;
        if (searched.view.data() != folded.text.data()) return true;  // its sentences may not end with a break
        for (size_t at = 0; at < folded.lines.size(); ++at) {
            Known& known = searched.sentences[at]->crossed[number];
            if (known == Known::unknown) known = may_begin_with(folded.line(at)) ? Known::yes : Known::no;
            if (known == Known::yes) return true;
        }
        return false;
    }

    bool may_begin_with(View line) {
        for (const uint8_t last : {machine.alphabet.class_of('\n'), machine.alphabet.end()}) {
            read(line, last);
            for (RuleGroup& group : across)
                if (group.may_begin_with(classes)) return true;
        }
        return false;
    }

    void read(View text, uint8_t last) {
        classes.resize(text.size() + 1);
        machine.alphabet.read(text, classes.data());
        classes.back() = last;
    }

    const std::vector<Place>& sorted() {
        std::sort(places.begin(), places.end());
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
    auto add = [&](std::span<const Place> places, int32_t offset) {
        for (const Place& place : places) {
            if (place.set != set) continue;
            const Span span = folded.origin(place.start + offset, place.end + offset);
            found.push_back({span.start, span.end, place.rule, place.group, searched.by_user});
        }
    };
    for (size_t number = 0; number < folded.lines.size(); ++number) {
        const Span line = folded.lines[number];
        Sentence& sentence = *searched.sentences[number];
        std::span<const Place>& places = sentence.places[parts.number];
        if (!sentence.searched[parts.number]) {
            if (!memory.is_told(sentence, parts.number, parts.places)) {
                const View text = searched.view.substr(line.start, line.end - line.start);
                Machine& machine = parts.machine;
                const ReadLine read = searched.reading.line(number, text, machine.alphabet, machine.words);
                memory.tell(sentence, parts.number, parts.search_within(read, steps));
            }
            places = memory.keep(parts.places);
            sentence.searched[parts.number] = true;
        }
        add(places, line.start);
    }
    const bool crosses = parts.crosses(set);
    if (crosses) add(parts.search_across(searched, steps), 0);
    if (crosses || !folded.places.empty()) std::stable_sort(found.begin(), found.end());
    if (static_cast<int32_t>(found.size()) > parts.machine.most_hits) cut(found, parts.machine.most_hits);
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
    alphabet.read(text, parts.classes.data());
    Steps steps(text);
    int32_t last = -1;
    Before before = text_start;
    for (int32_t at = 0; at < size; ++at) {
        if (at >= last && parts.automaton.firsts(before).has(parts.classes[at])) {
            const int32_t end = parts.automaton.match(Automaton::start(before), parts.classes.data(), at, steps.taken);
            if (end > at) last = end;
        }
        before = alphabet.kind_of(parts.classes[at]);
        steps.check();
    }
    return last;
}

}  // namespace synthesis
