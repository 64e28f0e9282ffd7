// Matches tried at many places of a text side by side.
#pragma once

#include "automaton.hpp"

namespace synthesis {

// A pattern that is followed from one place.
struct Attempt {
    Automaton* automaton;
    int32_t start;
    int32_t place;  // so far
    int32_t end;    // of the best match so far, -1 where there is none
    Automaton::State state;
    int16_t pattern;
};

// All of them go on a character at a time: each needs something from memory with every step and waits for it,
// and so they wait together. Most come to nothing within a few characters.
class Attempts {
public:
    void add(const Attempt& attempt) {
        attempt.automaton->expect(attempt.state);
        going_.push_back(attempt);
    }
    void clear() { going_.clear(); }
    bool are_many() const { return going_.size() > many; }

    // Those that matched or are still going on after some characters, in the order of their starts; the latter have
    // a state, which others have not. Counts steps.
    const std::vector<Attempt>& outcome(const uint8_t* classes, int64_t& steps);
    // Whether any matches, for patterns of which nothing else is asked.
    bool any_matches(const uint8_t* classes, int64_t& steps);

private:
    static constexpr size_t many = 256;
    static constexpr int far = 64;

    void step(const uint8_t* classes);

    std::vector<Attempt> going_, found_;
};

}  // namespace synthesis
