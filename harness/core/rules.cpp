#include "rules.hpp"

#include <algorithm>

#include "automaton.hpp"
#include "memory.hpp"

namespace synthesis {

namespace {

constexpr int32_t reach = 300;  // characters on each side of a hit that `unless` sees
constexpr int64_t steps_per_text = 1'000'000;
constexpr int64_t steps_per_character = 400;

// The steps a text may take; one that needs more is better off with RE2.
struct Steps {
    int64_t taken = 0;
    int64_t most;

    explicit Steps(View text) : most(steps_per_text + steps_per_character * static_cast<int64_t>(text.size())) {}

    void check() const {
        if (taken > most) throw TooMuch();
    }
};

// Rules that share an automaton. With more of them its states become too many, with fewer there is more to do.
constexpr size_t together = 24;

std::vector<Text> patterns_of(const std::vector<RuleText>& rules, size_t first) {
    std::vector<Text> patterns;
    for (size_t at = first; at < std::min(rules.size(), first + together); ++at) patterns.push_back(rules[at].pattern);
    return patterns;
}

}  // namespace

// Rules that are searched for in one go: in each sentence, or across them.
class Searched {
public:
    explicit Searched(const std::vector<RuleText>& rules) : ends_(rules.size()), counts_(rules.size()) {
        for (size_t first = 0; first < rules.size(); first += together) {
            automata_.push_back(std::make_unique<Automaton>(patterns_of(rules, first), false));
        }
        for (const RuleText& rule : rules) {
            std::vector<int32_t> guards;
            for (const Text& unless : rule.unless) guards.push_back(guard(unless));
            rules_.push_back({rule.rule, rule.group, std::move(guards)});
        }
    }

    // The places in a text where a rule matches and nothing around it cancels it, sorted.
    void search(View text, Steps& steps, std::vector<Place>& places) {
        places.clear();
        std::fill(ends_.begin(), ends_.end(), 0);
        std::fill(counts_.begin(), counts_.end(), 0);
        for (size_t number = 0; number < automata_.size(); ++number) {
            automata_[number]->read(text, classes_);
            automata_[number]->scan(classes_, steps.taken, [&](int32_t at, const std::vector<Match>& matches) {
                steps.check();
                for (const Match& match : matches) {
                    take(number * together + match.pattern, text, {at, match.end}, steps, places);
                }
            });
            steps.check();
        }
        std::sort(places.begin(), places.end(), [](const Place& one, const Place& two) {
            if (one.start != two.start) return one.start < two.start;
            return one.end != two.end ? one.end < two.end : one.rule < two.rule;
        });
    }

private:
    struct Rule {
        int16_t rule;
        int16_t group;
        std::vector<int32_t> guards;
    };
    struct Guard {
        Text pattern;
        std::unique_ptr<Automaton> automaton;  // made when it is first asked
    };

    void take(size_t number, View text, Span hit, Steps& steps, std::vector<Place>& places) {
        if (hit.start < ends_[number]) return;
        ends_[number] = hit.end;
        const Rule& rule = rules_[number];
        if (counts_[number] >= most_hits || cancelled(rule, text, hit, steps)) return;
        ++counts_[number];
        places.push_back({hit.start, hit.end, rule.rule, rule.group});
    }

    // Rules share many of the patterns that cancel them.
    int32_t guard(const Text& pattern) {
        auto same = [&](const Guard& each) { return each.pattern == pattern; };
        auto found = std::find_if(guards_.begin(), guards_.end(), same);
        if (found != guards_.end()) return static_cast<int32_t>(found - guards_.begin());
        Tree known(pattern);  // refused now rather than in the middle of a text
        guards_.push_back({pattern, nullptr});
        return static_cast<int32_t>(guards_.size()) - 1;
    }

    bool cancelled(const Rule& rule, View text, Span hit, Steps& steps) {
        if (rule.guards.empty()) return false;
        mark(text, hit);
        for (int32_t number : rule.guards) {
            Guard& guard = guards_[number];
            if (!guard.automaton) guard.automaton = std::make_unique<Automaton>(std::vector<Text>{guard.pattern}, true);
            guard.automaton->read(marked_, marked_classes_);
            if (guard.automaton->search(marked_classes_, steps.taken)) return true;
        }
        return false;
    }

    // The hit's sentence with the hit between `<` and `>`; of an endless sentence only what is near.
    void mark(View text, Span hit) {
        int32_t first = std::max(0, hit.start - reach);
        size_t before = text.substr(first, hit.start - first).rfind('\n');
        if (before != View::npos) first += static_cast<int32_t>(before) + 1;
        size_t stop = text.substr(hit.start, reach).find('\n');
        int32_t last = hit.start + (stop == View::npos ? reach : static_cast<int32_t>(stop));
        last = std::max(hit.end, std::min(last, static_cast<int32_t>(text.size())));
        marked_.assign(text.substr(first, hit.start - first));
        marked_ += '<';
        marked_ += text.substr(hit.start, hit.end - hit.start);
        marked_ += '>';
        marked_ += text.substr(hit.end, last - hit.end);
    }

    std::vector<std::unique_ptr<Automaton>> automata_;
    std::vector<Rule> rules_;
    std::vector<Guard> guards_;
    // While a text is searched:
    std::vector<int32_t> ends_, counts_;
    std::vector<uint8_t> classes_, marked_classes_;
    Text marked_;
};

struct RuleSet::Parts {
    int number;
    Searched within;
    Searched across;
    bool crosses;
    std::vector<Place> places;
};

RuleSet::RuleSet(int number, const std::vector<RuleText>& rules) {
    std::vector<RuleText> within, across;
    for (const RuleText& rule : rules) (rule.crosses_sentences ? across : within).push_back(rule);
    bool crosses = !across.empty();
    parts_.reset(new Parts{number, Searched(within), Searched(across), crosses, {}});
}

RuleSet::~RuleSet() = default;

namespace {

// Of each rule no more places than are listed.
void cut(std::vector<Hit>& hits) {
    std::vector<int32_t> counts;
    std::erase_if(hits, [&](const Hit& hit) {
        if (hit.rule >= static_cast<int32_t>(counts.size())) counts.resize(hit.rule + 1);
        return ++counts[hit.rule] > most_hits;
    });
}

}  // namespace

void RuleSet::hits(const Folded& folded, View view, const std::vector<Sentence*>& sentences, bool by_user,
                   Memory& memory, std::vector<Hit>& found) const {
    Parts& parts = *parts_;
    Steps steps(view);
    found.clear();
    auto add = [&](const Place& place, int32_t offset) {
        Span span = folded.origin(place.start + offset, place.end + offset);
        found.push_back({span.start, span.end, place.rule, place.group, by_user});
    };
    for (size_t number = 0; number < folded.lines.size(); ++number) {
        Span line = folded.lines[number];
        Sentence& sentence = *sentences[number];
        std::vector<Place>& places = sentence.places[parts.number];
        if (!sentence.searched[parts.number]) {
            parts.within.search(view.substr(line.start, line.end - line.start), steps, places);
            sentence.searched[parts.number] = true;
            memory.grew(places.capacity() * sizeof(Place));
        }
        for (const Place& place : places) add(place, line.start);
    }
    if (parts.crosses) {
        parts.places.clear();
        parts.across.search(view, steps, parts.places);
        for (const Place& place : parts.places) add(place, 0);
    }
    if (parts.crosses || !folded.places.empty()) std::stable_sort(found.begin(), found.end());
    if (found.size() > most_hits) cut(found);
}

struct Pattern::Parts {
    Automaton automaton;
    std::vector<uint8_t> classes;
};

Pattern::Pattern(View pattern) : parts_(new Parts{Automaton({Text(pattern)}, false), {}}) {}

Pattern::~Pattern() = default;

bool Pattern::search(View text) const { return last_end(text) >= 0; }

int32_t Pattern::last_end(View text) const {
    Steps steps(text);
    int32_t end = -1;
    parts_->automaton.read(text, parts_->classes);
    parts_->automaton.scan(parts_->classes, steps.taken, [&](int32_t at, const std::vector<Match>& matches) {
        steps.check();
        if (at >= end) end = matches[0].end;
    });
    return end;
}

}  // namespace synthesis
