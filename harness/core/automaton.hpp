// A pattern tried at one place of a text: a table that is worked out as far as texts need it.
#pragma once

#include "prefetch.hpp"
#include "program.hpp"

namespace synthesis {

// Begins at one place only, so what is being followed soon comes to nothing, and there are few states. A
// machine that looks for all beginnings at once, or for many patterns, has states without end on patterns
// with gaps.
class Automaton {
public:
    // The alphabet is built before anything is matched. `any`: all that is asked is whether something matches,
    // not how far. `bytes` is told of what the states take.
    Automaton(const Tree& tree, Alphabet& alphabet, size_t& bytes, bool any = false);

    // Whether it tells few enough characters apart to be worked out here.
    bool is_fit();
    // Everything that is worked out, anew: between two texts.
    void reset();

    // A place within a match, as a number; none where a match is no longer possible.
    using State = uint16_t;
    static constexpr State none = 0;
    static constexpr State start(Before before) { return 1 + before; }

    // Where a match that is in this state before `place` ends, as Perl would choose it; -1 where it does not.
    // `classes` are those of a text with its end; counts steps.
    int32_t match(State state, const uint8_t* classes, int32_t place, int64_t& steps);
    // The state behind some more characters; `matched` is set where a match has ended before one of them.
    State follow(State state, const uint8_t* classes, int32_t size, bool& matched);
    // The state behind one more character, as in a match; `end` is set where one has ended before it. False where
    // nothing more can match.
    bool go_on(State& state, const uint8_t* classes, int32_t place, int32_t& end) {
        const Entry next = look_up(state, classes[place]);
        if (next & matched_bit) end = place;
        state = next >> 1;
        if (next == dead || classes[place] == last_ || (any_ && end >= 0)) return false;
        expect(state);
        return true;
    }
    // A step from this state is about to be asked for.
    void expect(State state) const { prefetch(&branches_[state]); }
    // The characters with which a match can begin, or before which one can be empty.
    Classes firsts(Before before) const { return firsts_[before]; }

    // At least those that can be the second of a match.
    Classes seconds() const;

private:
    class Work;
    static Work& work();

    // What one more character leads to: twice the next state, and one more where something matched on the way.
    using Entry = uint16_t;
    static constexpr Entry dead = 0;
    static constexpr Entry unknown = 0xffff;
    static constexpr Entry elsewhere = 0xfffe;
    static constexpr Entry matched_bit = 1;

    // In `pool_`: the instructions from which the pattern is followed, the best first.
    struct Point {
        int32_t begin;
        int32_t end;
        Before before;  // what stands before this place
    };
    // What characters lead to. `alive` are those that lead anywhere, by the numbers the pattern has for them; it
    // answers most questions. Most states are within a word of the pattern, where very few go on: their entries
    // stand here. Where it is more, they are in `rows_`, and here is where.
    struct Branches {
        static constexpr int few = 4;
        uint64_t alive = 0;
        std::array<Entry, few> entries{unknown, unknown, unknown, unknown};

        bool in_row() const { return entries[few - 1] == elsewhere; }
        size_t row() const { return entries[0] | static_cast<size_t>(entries[1]) << 16; }
    };

    void tell_apart();
    Entry look_up(State state, uint8_t next) {
        const uint8_t number = own_[next];
        if (!(branches_[state].alive >> number & 1)) return dead;
        const Entry found = entry(state, number);
        return found == unknown ? step(state, next) : found;
    }
    static int place_of(const Branches& branches, uint8_t number) {
        return count_ones(branches.alive & ((uint64_t{1} << number) - 1));
    }
    // That of a character which leads on, by its number.
    Entry& entry(State state, uint8_t number) {
        Branches& branches = branches_[state];
        const int place = place_of(branches, number);
        return branches.in_row() ? rows_[branches.row() + place] : branches.entries[place];
    }
    Entry step(State state, uint8_t next);
    Classes alike(const Point& from, uint8_t next) const;
    bool advance(Work& now, int32_t instruction, Before before, uint8_t next) const;
    void add_open(Work& now, int32_t instruction) const;
    State state_for(Work& now, Before before);
    void add_state(const Point& point);
    Classes going_on(const Point& point) const;
    void add_firsts(Work& now, int32_t instruction, Before before, Classes& found) const;
    uint64_t hash_of(const Point& point) const;
    bool is_same(const Point& one, const Point& two) const;
    void grow_known();

    // What every step needs stands together.
    std::vector<Branches> branches_;
    std::vector<Entry> rows_;
    bool any_;
    uint8_t last_ = 0;
    alignas(64) std::array<uint8_t, Classes::most> own_{};  // by class: its number among those it tells apart

    const Alphabet& alphabet_;
    Program program_;
    size_t& bytes_;
    std::array<Classes, befores> firsts_;
    int32_t width_ = 0;  // how many classes the pattern tells apart; nought before the first text
    std::vector<Point> points_;  // of each state
    std::vector<int32_t> pool_;
    std::vector<State> known_;  // the states by their hash, in an open table
};

}  // namespace synthesis
