// What is needed while a step is worked out, of whatever automaton: one is worked on at a time.
#pragma once

#include <algorithm>

#include "automaton.hpp"

namespace synthesis {

class Automaton::Work {
public:
    std::vector<int32_t> stack, targets, next;
    std::vector<std::pair<int32_t, Classes>> allowed;
    bool asserts = false;

    // Which instructions are followed is noted anew.
    void begin(int32_t size) {
        if (static_cast<int32_t>(rounds_.size()) < size) rounds_.resize(size, 0);
        if (++round_ == 0) {
            std::fill(rounds_.begin(), rounds_.end(), 0);
            walked_.clear();
            round_ = 1;
        }
    }

    // False where it was there before.
    bool add(int32_t number) {
        if (rounds_[number] == round_) return false;
        rounds_[number] = round_;
        return true;
    }

    // Only for some characters; false where it was there before with all of these. Otherwise there would be no
    // end of ways to it.
    bool add(int32_t number, const Classes& classes) {
        if (rounds_[number] == round_) return false;
        if (walked_.size() < rounds_.size()) walked_.resize(rounds_.size());
        auto& [round, walked] = walked_[number];
        if (round != round_) round = round_, walked = {};
        if (!(classes & ~walked)) return false;
        walked |= classes;
        return true;
    }

private:
    std::vector<uint32_t> rounds_;
    std::vector<std::pair<uint32_t, Classes>> walked_;
    uint32_t round_ = 0;
};

}  // namespace synthesis
