#include "rule_group.hpp"

#include <algorithm>

namespace synthesis {

namespace {

constexpr int64_t steps_per_text = 1'000'000;
constexpr int64_t steps_per_character = 150;
constexpr int few = 3;         // rules that are better followed each by itself
constexpr int most_words = 2;  // that they are followed through together
constexpr size_t many = 256;   // places at which rules begin

}  // namespace

Steps::Steps(View text) : most_(steps_per_text + steps_per_character * static_cast<int64_t>(text.size())) {}

RuleGroup::RuleGroup(const RuleText* begin, const RuleText* end, Machine& machine) : machine_(machine) {
    for (const RuleText* rule = begin; rule != end; ++rule) {
        std::vector<int32_t> guards;
        for (const Text& unless : rule->unless) guards.push_back(guard(unless));
        const Tree tree(rule->pattern);
        rules_.push_back({rule->rule, rule->group, rule->set, std::move(guards),
                          std::make_unique<Automaton>(tree, machine.alphabet, machine.bytes)});
    }
}

// Rules share many of the patterns that cancel them.
int32_t RuleGroup::guard(const Text& pattern) {
    const auto [found, fresh] = guard_numbers_.try_emplace(pattern, static_cast<int32_t>(guards_.size()));
    if (fresh) {
        machine_.alphabet.add(Tree(pattern));  // refused now rather than in the middle of a text
        guards_.push_back({pattern, nullptr});
    }
    return found->second;
}

bool RuleGroup::has(int set) const {
    return std::any_of(rules_.begin(), rules_.end(), [set](const Rule& rule) { return rule.set == set; });
}

void RuleGroup::finish() {
    const Alphabet& alphabet = machine_.alphabet;
    std::vector<Automaton*> automata;
    for (Rule& rule : rules_) {
        rule.automaton->reset();
        automata.push_back(rule.automaton.get());
    }
    for (int before = 0; before < befores; ++before) {
        starts_[before].assign(alphabet.classes(), {});
        for (size_t rule = 0; rule < rules_.size(); ++rule) {
            rules_[rule].automaton->firsts(static_cast<Before>(before)).each([&](int first) {
                starts_[before][first].add(static_cast<int>(rule));
            });
        }
    }
    seconds_.assign(alphabet.classes(), {});
    for (size_t rule = 0; rule < rules_.size(); ++rule)
        rules_[rule].automaton->seconds().each([&](int second) {
            if (second < alphabet.classes()) seconds_[second].add(static_cast<int>(rule));
        });
    for (int number = 0; number < alphabet.classes(); ++number)
        inside_ = inside_ || (alphabet.is_word(static_cast<uint8_t>(number)) && starts_[word][number]);
    for (const Before before : {word, other})
        for (const Patterns& starts : starts_[before]) only_lines_ = only_lines_ && !starts;
    fronts_.set(std::move(automata));
}

void RuleGroup::forget() {
    for (Rule& rule : rules_) rule.automaton->reset();
    for (Rule& rule : rules_) rule.guard_starts.clear();
    for (Guard& guard : guards_) guard.automaton.reset();
    fronts_.forget();
}

void RuleGroup::search(const ReadLine& line, Steps& steps, std::vector<Place>& places) {
    begin(line, steps, places);
    if (fronts_.is_full()) fronts_.forget();
    Before before = text_start;
    const Run* run = line.first_run;
    for (int32_t at = 0; at < line.size; ++run) {
        for (const int32_t end = run < line.last_run ? run->start : line.size; at < end; ++at) {
            begin_at_mark(at, run, before);
            before = machine_.alphabet.kind_of(line.classes[at]);
        }
        if (run == line.last_run) break;
        begin_at_word(run, before);
        before = word;
        at = run->end;
        if (beginnings_.size() > many) decide();
    }
    decide();
}

void RuleGroup::search_across(const ReadLine& line, Steps& steps, std::vector<Place>& places) {
    begin(line, steps, places);
    const uint8_t* const end = line.classes + line.size;
    Before before = text_start;
    for (const uint8_t* place = line.classes; place < end; ++place) {
        try_at(static_cast<int32_t>(place - line.classes), before);
        before = machine_.alphabet.kind_of(*place);
        if (before == line_start || !only_lines_) continue;
        place = std::find(place, end, machine_.alphabet.class_of('\n'));
        before = line_start;
    }
    decide();
}

bool RuleGroup::may_begin_with(const std::vector<uint8_t>& classes) {
    const auto size = static_cast<int32_t>(classes.size());
    bool may = !only_lines_;
    for (const Rule& rule : rules_) {
        for (const Before before : {text_start, line_start}) {
            bool matched = false;
            const auto state = rule.automaton->follow(Automaton::start(before), classes.data(), size, matched);
            may = may || matched || state != Automaton::none;
        }
    }
    return may;
}

void RuleGroup::begin(const ReadLine& line, Steps& steps, std::vector<Place>& places) {
    steps.taken += line.size;
    line_ = &line, steps_ = &steps, places_ = &places;
    begun_ = {};
    beginnings_.clear();
    attempts_.clear();
    guarding_.clear();
}

// From a mark on; `run` is the next word.
void RuleGroup::begin_at_mark(int32_t at, const Run* run, Before before) {
    const Patterns& candidates = starts_[before][line_->classes[at]];
    if (!candidates) return;
    const int32_t end = run < line_->last_run ? run->start : line_->size + 1;
    if (end - at > Fronts::most_marks) return try_at(at, before);
    const int32_t front = fronts_.behind(fronts_.start(before), line_->classes + at, end - at);
    beginnings_.push_back({{at, end}, front, before, most_words - 1, run, candidates & fronts_.patterns(front)});
    expect(beginnings_.back());
}

void RuleGroup::begin_at_word(const Run* run, Before before) {
    const Patterns& candidates = starts_[before][line_->classes[run->start]];
    if (candidates) {
        const Span done{run->start, run->start};
        beginnings_.push_back({done, fronts_.start(before), before, most_words, run, candidates});
        expect(beginnings_.back());
    }
    for (int32_t at = run->start + 1; inside_ && at < run->end; ++at)
        try_at(at, word);
}

// Whether the rules that may match are followed together through one more word: not where they are few, and not
// through many words, since more hardly come back.
bool RuleGroup::goes_on(const Beginning& beginning) const {
    const auto& [done, front, before, words, run, candidates] = beginning;
    if (run >= line_->last_run || run->start != done.end || run->word == Words::any || words == 0) return false;
    return done.end == done.start || !candidates.are_at_most(few);
}

void RuleGroup::expect(const Beginning& beginning) const {
    if (goes_on(beginning)) fronts_.expect(beginning.front, *line_, *beginning.run);
}

// Follows all that has begun: the words that come first together, then each rule by itself.
void RuleGroup::decide() {
    for (int words = 0; words < most_words; ++words) {
        for (Beginning& each : beginnings_) {
            if (!goes_on(each)) continue;
            each.front = fronts_.behind(each.front, *line_, *each.run);
            each.candidates &= fronts_.patterns(each.front);
            each.done.end = each.run->end + 1;
            --each.words;
            ++each.run;
            expect(each);
        }
    }
    for (const Beginning& each : beginnings_) {
        if (!each.candidates) continue;
        fronts_.each(each.front, [&](int pattern, Automaton::State state) {
            if (!each.candidates.has(pattern) || !is_free(pattern, each.done.start)) return;
            if (state == Automaton::none) {
                try_at(each.done.start, each.before, pattern);
            } else {
                attempts_.add({rules_[pattern].automaton.get(), each.done.start, each.done.end, -1, state,
                               static_cast<int16_t>(pattern)});
            }
        });
    }
    beginnings_.clear();
    for (const Attempt& each : attempts_.outcome(line_->classes, steps_->taken)) {
        if (!is_free(each.pattern, each.start)) continue;
        int32_t end = each.end;
        if (each.state != Automaton::none)
            end = std::max(end, each.automaton->match(each.state, line_->classes, each.place, steps_->taken));
        if (end > each.start) take(each.pattern, {each.start, end});
        steps_->check();
    }
    steps_->check();
}

// All rules that may begin with these two characters, one by one.
void RuleGroup::try_at(int32_t at, Before before) {
    const Patterns& starts = starts_[before][line_->classes[at]];
    if (!starts) return;
    (starts & seconds_[line_->classes[at + 1]]).each([&](int pattern) {
        if (is_free(pattern, at)) try_at(at, before, pattern);
    });
    if (attempts_.are_many()) decide();  // an endless word is full of places
}

void RuleGroup::try_at(int32_t at, Before before, int pattern) {
    attempts_.add({rules_[pattern].automaton.get(), at, at, -1, Automaton::start(before), static_cast<int16_t>(pattern)});
}

// Whether the rule's last match in this sentence ends before a place.
bool RuleGroup::is_free(int number, int32_t at) { return !begun_.has(number) || at >= rules_[number].end; }

void RuleGroup::take(int number, Span hit) {
    Rule& rule = rules_[number];
    if (!begun_.has(number)) rule.count = 0;
    begun_.add(number);
    rule.end = hit.end;
    if (rule.count >= machine_.most_hits || is_cancelled(rule, hit)) return;
    ++rule.count;
    places_->push_back({hit.start, hit.end, rule.rule, rule.group, rule.set});
}

// A text that says one thing again and again is looked at once.
bool RuleGroup::is_cancelled(Rule& rule, Span hit) {
    if (rule.guards.empty()) return false;
    mark(hit);
    if (marked_ != rule.marked) {
        rule.cancelled = is_guarded(rule);
        rule.marked = marked_;  // only now: looking may come to nothing
    }
    return rule.cancelled;
}

bool RuleGroup::is_guarded(Rule& rule) {
    const auto size = static_cast<int32_t>(marked_.size()) - 1;
    const auto matches = [&] { return guarding_.any_matches(marked_.data(), steps_->taken); };
    steps_->taken += size;
    for (const GuardStarts& starts : starts_of(rule)) {
        Before before = text_start;
        for (int32_t at = 0; at < size; ++at) {
            for (uint64_t left = starts.beginning(before, &marked_[at]); left; left &= left - 1) {
                Automaton* const automaton = starts.automata[std::countr_zero(left)];
                guarding_.add({automaton, at, at, -1, Automaton::start(before), 0});
            }
            before = machine_.alphabet.kind_of(marked_[at]);
            if (guarding_.are_many() && matches()) return true;
        }
    }
    return matches();
}

// Made when the rule first matches, whole or not at all.
const std::vector<RuleGroup::GuardStarts>& RuleGroup::starts_of(Rule& rule) {
    if (!rule.guard_starts.empty()) return rule.guard_starts;
    std::vector<GuardStarts> made;
    for (const int32_t number : rule.guards) {
        if (made.empty() || made.back().automata.size() == GuardStarts::most)
            made.emplace_back(machine_.alphabet.classes());
        made.back().add(automaton_of(guards_[number]));
    }
    rule.guard_starts = std::move(made);
    return rule.guard_starts;
}

Automaton* RuleGroup::automaton_of(Guard& guard) {
    if (!guard.automaton) {
        auto made = std::make_unique<Automaton>(Tree(guard.pattern), machine_.alphabet, machine_.bytes, true);
        if (!made->is_fit()) throw TooMuch{};
        made->reset();
        guard.automaton = std::move(made);
    }
    return guard.automaton.get();
}

RuleGroup::GuardStarts::GuardStarts(int classes) {
    for (auto& each : firsts) each.assign(classes, 0);
    seconds.assign(classes, 0);
}

void RuleGroup::GuardStarts::add(Automaton* automaton) {
    const uint64_t bit = uint64_t{1} << automata.size();
    automata.push_back(automaton);
    for (int before = 0; before < befores; ++before)
        automaton->firsts(static_cast<Before>(before)).each([&](int first) { firsts[before][first] |= bit; });
    const Classes others = automaton->seconds();
    for (size_t number = 0; number < seconds.size(); ++number)
        if (others.has(static_cast<int>(number))) seconds[number] |= bit;
}

// The hit's sentence with the hit between `<` and `>`; of an endless sentence only what is near.
void RuleGroup::mark(Span hit) {
    const Alphabet& alphabet = machine_.alphabet;
    const uint8_t* const classes = line_->classes;
    const auto is_break = [&](uint8_t each) { return alphabet.is_break(each); };
    int32_t first = std::max(0, hit.start - machine_.reach);
    for (int32_t at = hit.start; at > first; --at)
        if (is_break(classes[at - 1])) first = at;
    const int32_t furthest = std::min(line_->size, hit.start + machine_.reach);
    const int32_t stop = static_cast<int32_t>(std::find_if(classes + hit.start, classes + furthest, is_break) - classes);
    const int32_t last = std::max(hit.end, stop);
    marked_.assign(classes + first, classes + hit.start);
    marked_.push_back(alphabet.class_of('<'));
    marked_.insert(marked_.end(), classes + hit.start, classes + hit.end);
    marked_.push_back(alphabet.class_of('>'));
    marked_.insert(marked_.end(), classes + hit.end, classes + last);
    marked_.insert(marked_.end(), 2, alphabet.end());  // so that there is something behind the end, too
}

}  // namespace synthesis
