// How far patterns have come behind some words, remembered for words that follow one another again.
#pragma once

#include "automaton.hpp"
#include "reading.hpp"

namespace synthesis {

// A front is all patterns that began at one place and may still match, each with its state. There is one for
// every text that leads to it: most words mean nothing to most patterns, so that they all lead to few.
class Fronts {
public:
    // The state is none where the pattern has matched already, so that it has to be followed from its beginning.
    struct Alive {
        int16_t pattern;
        Automaton::State state;
        bool operator==(const Alive&) const = default;
    };

    void set(std::vector<Automaton*> automata) { automata_ = std::move(automata); }

    // Where all patterns begin.
    int32_t start(Before before);
    // The front behind one more word that is known, and behind the character or end that follows it.
    int32_t behind(int32_t front, const ReadLine& line, const Run& run);
    // It will be asked for soon.
    void expect(int32_t front, const ReadLine& line, const Run& run) const {
        prefetch(&steps_[slot_of(front, what(line, run))]);
    }
    // The front behind some more marks, at most `most_marks`, which may have the end among them.
    int32_t behind(int32_t front, const uint8_t* marks, int32_t size);
    static constexpr int32_t most_marks = 4;

    const Patterns& patterns(int32_t front) const { return fronts_[front].patterns; }
    // Calls `found(pattern, state)` for each.
    template <class Found>
    void each(int32_t front, Found found) const {
        for (int32_t at = fronts_[front].begin; at < fronts_[front].end; ++at)
            found(alive_[at].pattern, alive_[at].state);
    }

    bool is_full() const;
    // Also where states or words are no longer what they were.
    void forget();

private:
    struct Front {
        uint64_t hash;
        int32_t begin;  // in `alive_`
        int32_t end;
        Patterns patterns;
    };
    struct Step {
        int32_t front = -1;
        int32_t what = 0;  // a word and what follows it, or some marks
        int32_t next = 0;
    };

    static constexpr size_t most_steps = 1 << 17;
    static constexpr int class_bits = 7;
    static_assert(1 << class_bits == Classes::most);

    // A word and what follows it.
    static int32_t what(const ReadLine& line, const Run& run) { return run.word << class_bits | line.classes[run.end]; }
    static size_t slot_of(int32_t front, int32_t what) {
        const uint32_t hash = static_cast<uint32_t>(front) * 0x9e3779b1u ^ static_cast<uint32_t>(what) * 0x85ebca6bu;
        return (hash ^ hash >> 15) & (most_steps - 1);
    }
    int32_t next(int32_t front, int32_t what, const uint8_t* classes, int32_t size);
    void follow(int32_t front, const uint8_t* classes, int32_t size);
    int32_t numbered();
    void grow();

    std::vector<Automaton*> automata_;
    std::vector<Step> steps_;  // by a hash; the last one seen stays
    std::vector<Front> fronts_;
    std::vector<Alive> alive_;
    std::vector<int32_t> known_;  // one more than a front's number, in an open table
    std::vector<Alive> found_;    // while a front is worked out
};

}  // namespace synthesis
