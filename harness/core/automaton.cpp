#include "automaton.hpp"

#include <algorithm>

namespace synthesis {

namespace {

// Of one automaton's states, which are then worked out anew.
constexpr size_t most_bytes = 4u << 20;
constexpr size_t most_bytes_of_any = 1u << 20;

constexpr uint64_t odd = 0x2127599bf4325c37ull;

// Which instructions have been followed in this round, of whatever automaton: one is worked on at a time.
class Seen {
public:
    void begin(int32_t size) {
        if (static_cast<int32_t>(rounds_.size()) < size) rounds_.resize(size, 0);
        if (++round_ == 0) std::fill(rounds_.begin(), rounds_.end(), 0), round_ = 1;
    }

    // False where it was there before.
    bool add(int32_t number) {
        if (rounds_[number] == round_) return false;
        rounds_[number] = round_;
        return true;
    }

private:
    std::vector<uint32_t> rounds_;
    uint32_t round_ = 0;
};

thread_local Seen seen;

uint64_t hash_of_parts(uint8_t before, int32_t matched, const int32_t* begin, const int32_t* end) {
    uint64_t hash = before + 31 * static_cast<uint64_t>(matched);
    for (; begin != end; ++begin) hash = (hash ^ static_cast<uint32_t>(*begin)) * odd, hash ^= hash >> 29;
    return hash;
}

}  // namespace

Automaton::Automaton(const std::vector<Text>& patterns, bool any) : program_(patterns), any_(any) {
    for (int32_t number = 0; number < program_.size(); ++number) {
        // Each pattern's instructions begin with the one that says it has matched.
        if (program_[number].kind == Instruction::Kind::matched) firsts_of_.push_back(number);
    }
    width_ = alphabet().classes();
    for (int32_t number = 0; number < width_; ++number) {
        uint8_t character = static_cast<uint8_t>(number);
        kinds_[number] = alphabet().is_word(character) ? word : alphabet().is_break(character) ? line_start : other;
    }
    reset();
}

void Automaton::reset() {
    states_.clear();
    pool_.clear();
    known_.assign(64, 0);
    steps_.assign(1, {});
    rows_.clear();
    firsts_.assign(4 * width_, unknown);
    states_.push_back({0, 0, 0, other});
    for (uint8_t before : {text_start, line_start, word, other}) {
        seen.begin(program_.size());
        matched_.clear();
        next_.clear();
        for (int32_t entry : program_.entries()) follow(entry);
        asserts_ = true;  // a beginning is never taken for another
        state_for(before);
    }
}

void Automaton::make_room() {
    size_t bytes = 4 * (pool_.size() + known_.size() + rows_.size()) +
                   (sizeof(State) + sizeof(Steps)) * states_.size();
    if (bytes > (any_ ? most_bytes_of_any : most_bytes)) reset();
}

void Automaton::read(View text, std::vector<uint8_t>& classes) const {
    const Alphabet& known = alphabet();
    classes.resize(text.size() + 1);
    for (size_t at = 0; at < text.size(); ++at) classes[at] = known.class_of(text[at]);
    classes[text.size()] = known.end();
}

int32_t Automaton::lookup(int32_t state, uint8_t next) const {
    const Steps& steps = steps_[state];
    if (steps.classes[0] == next) return steps.entries[0];
    if (steps.classes[1] == next) return steps.entries[1];
    return steps.row < 0 ? unknown : rows_[steps.row + next];
}

void Automaton::keep(int32_t state, uint8_t next, int32_t entry) {
    Steps& steps = steps_[state];
    for (int which : {0, 1}) {
        if (steps.classes[which] != none) continue;
        steps.classes[which] = next;
        steps.entries[which] = entry;
        return;
    }
    if (steps.row < 0) {
        steps.row = static_cast<int32_t>(rows_.size());
        rows_.resize(rows_.size() + width_, unknown);
    }
    rows_[steps.row + next] = entry;
}

// Follows all patterns from `at` on until nothing is left to follow, at the end of the text at the latest; says
// how many steps that took.
int32_t Automaton::run(const uint8_t* classes, int32_t at, uint8_t before, std::vector<Match>& matches) {
    matches.clear();
    int32_t place = at;
    int32_t next = first(before, classes[at]);
    if (next == unknown) next = first(before, classes[at]) = step(1 + before, classes[at]);
    while (next != dead) {
        if (next & matched_bit) {
            note(next, place, matches);
            if (any_) break;
        }
        if (classes[place] == width_ - 1) break;
        int32_t state = next >> 1;
        next = lookup(state, classes[++place]);
        if (next == unknown) {
            next = step(state, classes[place]);
            keep(state, classes[place], next);
        }
    }
    if (!any_ && !matches.empty()) std::erase_if(matches, [&](const Match& each) { return each.end == at; });
    return place - at;
}

void Automaton::note(int32_t entry, int32_t place, std::vector<Match>& matches) const {
    const State& state = states_[entry >> 1];
    for (int32_t number = 0; number < state.matched; ++number) {
        int32_t pattern = pool_[state.begin + number];
        auto same = [&](const Match& each) { return each.pattern == pattern; };
        auto known = std::find_if(matches.begin(), matches.end(), same);
        if (known == matches.end()) matches.push_back({pattern, place});
        else known->end = place;
    }
}

bool Automaton::search(const std::vector<uint8_t>& classes, int64_t& steps) {
    const int32_t size = static_cast<int32_t>(classes.size());
    uint8_t before = text_start;
    steps += size;
    make_room();
    for (int32_t at = 0; at < size; ++at) {
        uint8_t behind = before;
        before = kinds_[classes[at]];
        if (first(behind, classes[at]) == dead) continue;
        steps += run(classes.data(), at, behind, matches_);
        if (!matches_.empty()) return true;
    }
    return false;
}

// The state after one more character, or after the end. A match ends before that character: only then is it
// known whether what is asked of both its sides holds.
int32_t Automaton::step(int32_t state, uint8_t next) {
    const State now = states_[state];
    before_ = now.before;
    matched_.clear();
    targets_.clear();
    done_ = -1;
    seen.begin(program_.size());
    for (int32_t at = now.begin + now.matched; at < now.end; ++at) advance(pool_[at], next);
    if (any_ && !matched_.empty()) targets_.clear();
    next_.clear();
    asserts_ = false;
    seen.begin(program_.size());
    for (int32_t target : targets_) follow(target);
    if (matched_.empty() && next_.empty()) return dead;
    return 2 * state_for(kinds_[next]) + (matched_.empty() ? 0 : matched_bit);
}

// Adds to `targets_` what a character leads to from an instruction, the best first, and to `matched_` the pattern
// that is found before it. What is of less worth than a match that is found is left.
void Automaton::advance(int32_t instruction, uint8_t next) {
    if (done_ >= 0 && owner_of(instruction) == done_) return;
    const bool ends = next == alphabet().end();
    stack_.assign(1, instruction);
    while (!stack_.empty()) {
        int32_t number = stack_.back();
        stack_.pop_back();
        if (!seen.add(number)) continue;
        const Instruction& each = program_[number];
        switch (each.kind) {
            case Instruction::Kind::one_of:
                if (!ends && alphabet().has(each.argument, next)) targets_.push_back(each.next);
                break;
            case Instruction::Kind::either:
                stack_.push_back(each.other);
                stack_.push_back(each.next);
                break;
            case Instruction::Kind::assertion:
                if (holds(static_cast<Assertion>(each.argument), next)) stack_.push_back(each.next);
                break;
            case Instruction::Kind::matched:
                if (!any_ || matched_.empty()) matched_.push_back(any_ ? 0 : each.argument);
                done_ = owner_of(number);
                return;
        }
    }
}

// Adds to `next_` what an instruction leads to without a character, the best first. Assertions stay as they are:
// what comes behind them is not known yet.
void Automaton::follow(int32_t instruction) {
    stack_.assign(1, instruction);
    while (!stack_.empty()) {
        int32_t number = stack_.back();
        stack_.pop_back();
        if (!seen.add(number)) continue;
        const Instruction& each = program_[number];
        if (each.kind == Instruction::Kind::either) {
            stack_.push_back(each.other);
            stack_.push_back(each.next);
        } else {
            asserts_ = asserts_ || each.kind == Instruction::Kind::assertion;
            next_.push_back(number);
        }
    }
}

bool Automaton::holds(Assertion assertion, uint8_t next) const {
    bool ends = next == alphabet().end();
    bool boundary = (before_ == word) != (!ends && alphabet().is_word(next));
    switch (assertion) {
        case Assertion::line_start: return before_ == text_start || before_ == line_start;
        case Assertion::text_start: return before_ == text_start;
        case Assertion::line_end: return ends || alphabet().is_break(next);
        case Assertion::text_end: return ends;
        case Assertion::boundary: return boundary;
        case Assertion::no_boundary: return !boundary;
    }
    return false;
}

// The state with these matches and instructions; what stands before matters only to assertions.
int32_t Automaton::state_for(uint8_t before) {
    if (!asserts_) before = other;
    if (any_) std::sort(next_.begin(), next_.end());
    const int32_t begin = static_cast<int32_t>(pool_.size());
    pool_.insert(pool_.end(), matched_.begin(), matched_.end());
    pool_.insert(pool_.end(), next_.begin(), next_.end());
    const State fresh{begin, static_cast<int32_t>(matched_.size()), static_cast<int32_t>(pool_.size()), before};
    if (2 * states_.size() > known_.size()) grow_known();
    size_t slot = hash_of(fresh) & (known_.size() - 1);
    for (; known_[slot]; slot = (slot + 1) & (known_.size() - 1)) {
        if (!is_same(states_[known_[slot]], fresh)) continue;
        pool_.resize(begin);
        return known_[slot];
    }
    known_[slot] = static_cast<int32_t>(states_.size());
    states_.push_back(fresh);
    steps_.push_back({});
    return known_[slot];
}

uint64_t Automaton::hash_of(const State& state) const {
    return hash_of_parts(state.before, state.matched, pool_.data() + state.begin, pool_.data() + state.end);
}

bool Automaton::is_same(const State& one, const State& two) const {
    return one.before == two.before && one.matched == two.matched &&
           std::equal(pool_.begin() + one.begin, pool_.begin() + one.end, pool_.begin() + two.begin,
                      pool_.begin() + two.end);
}

void Automaton::grow_known() {
    known_.assign(2 * known_.size(), 0);
    for (size_t number = 1; number < states_.size(); ++number) {
        size_t slot = hash_of(states_[number]) & (known_.size() - 1);
        while (known_[slot]) slot = (slot + 1) & (known_.size() - 1);
        known_[slot] = static_cast<int32_t>(number);
    }
}

int32_t Automaton::owner_of(int32_t instruction) const {
    if (any_) return 0;
    auto after = std::upper_bound(firsts_of_.begin(), firsts_of_.end(), instruction);
    return static_cast<int32_t>(after - firsts_of_.begin()) - 1;
}

}  // namespace synthesis
