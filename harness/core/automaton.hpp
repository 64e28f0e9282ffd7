// Many patterns tried at one place in a single pass: a table that is worked out as far as texts need it.
#pragma once

#include "program.hpp"

namespace synthesis {

// A match of a pattern that begins where it was asked for.
struct Match {
    int32_t pattern;
    int32_t end;
};

// Begins at one place only, so what is being followed soon comes to nothing, and there are few states. A
// machine that looks for all beginnings at once has states without end on patterns with gaps.
class Automaton {
public:
    // `any`: all that is asked is whether something matches, not what and how far.
    Automaton(const std::vector<Text>& patterns, bool any);

    const Alphabet& alphabet() const { return program_.alphabet(); }

    // The classes of a text, and of its end.
    void read(View text, std::vector<uint8_t>& classes) const;

    // Calls `found(start, matches)` wherever patterns match, with what each matches from there on, as Perl would
    // choose it; empty matches are none. Counts steps.
    template <class Found>
    void scan(const std::vector<uint8_t>& classes, int64_t& steps, Found found);

    // Whether any pattern matches anywhere.
    bool search(const std::vector<uint8_t>& classes, int64_t& steps);

private:
    // What one more character leads to: the next state's number, and whether something matched on the way.
    static constexpr int32_t unknown = -1;
    static constexpr int32_t dead = 0;
    static constexpr int32_t matched_bit = 1;
    static constexpr uint8_t none = 255;  // no class

    struct State {
        int32_t begin;    // in `pool_`: patterns that matched before the last character, then instructions
        int32_t matched;  // how many patterns
        int32_t end;
        uint8_t before;  // what stands before this place
    };
    // What characters lead to from a state, as far as is known: of all that could follow, mostly one or two do.
    // Where it is more, there is a row with an entry for each class.
    struct Steps {
        int32_t entries[2] = {unknown, unknown};
        int32_t row = -1;
        uint8_t classes[2] = {none, none};
    };
    enum Before : uint8_t { text_start, line_start, word, other };

    void reset();
    void make_room();
    int32_t& first(uint8_t before, uint8_t next) { return firsts_[before * width_ + next]; }
    int32_t lookup(int32_t state, uint8_t next) const;
    int32_t step(int32_t state, uint8_t next);
    void keep(int32_t state, uint8_t next, int32_t entry);
    int32_t run(const uint8_t* classes, int32_t at, uint8_t before, std::vector<Match>& matches);
    int32_t owner_of(int32_t instruction) const;
    void note(int32_t entry, int32_t place, std::vector<Match>& matches) const;
    void advance(int32_t instruction, uint8_t next);
    void follow(int32_t instruction);
    bool holds(Assertion assertion, uint8_t next) const;
    int32_t state_for(uint8_t before);
    uint64_t hash_of(const State& state) const;
    bool is_same(const State& one, const State& two) const;
    void grow_known();

    Program program_;
    bool any_;
    int32_t width_;
    std::array<uint8_t, most_classes> kinds_{};  // what a character is to the place behind it
    std::vector<int32_t> firsts_of_;  // each pattern's first instruction
    std::vector<State> states_;
    std::vector<int32_t> pool_;
    std::vector<int32_t> known_;  // the states by their hash, in an open table
    std::vector<int32_t> firsts_;  // what a first character leads to: most lead to nothing
    std::vector<Steps> steps_;
    std::vector<int32_t> rows_;
    // While a step is worked out:
    std::vector<int32_t> stack_, targets_, matched_, next_;
    int32_t done_ = -1;
    uint8_t before_ = 0;
    bool asserts_ = false;
    std::vector<Match> matches_;
};

template <class Found>
void Automaton::scan(const std::vector<uint8_t>& classes, int64_t& steps, Found found) {
    const int32_t size = static_cast<int32_t>(classes.size());
    uint8_t before = text_start;
    steps += size;
    for (int32_t at = 0; at + 1 < size; ++at) {
        uint8_t behind = before;
        before = kinds_[classes[at]];
        if (first(behind, classes[at]) == dead) continue;
        make_room();
        steps += run(classes.data(), at, behind, matches_);
        if (!matches_.empty()) found(at, matches_);
    }
}

}  // namespace synthesis
