// A table of pairs of numbers, emptied between two texts without being touched.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace synthesis {

class Pairs {
public:
    struct Slot {
        uint64_t key = 0;
        uint32_t round = 0;
        int32_t one = 0;
        int32_t two = 0;
    };

    // No more than so many pairs may then be put in.
    void clear(size_t most) {
        const size_t size = std::bit_ceil(2 * most + 16);
        const bool wasteful = slots_.size() > large && slots_.size() > 4 * size;
        if (slots_.size() < size || wasteful || ++round_ == 0) {
            std::vector<Slot>(std::max(size, small)).swap(slots_);
            round_ = 1;
            shift_ = 64 - std::countr_zero(slots_.size());
        }
    }

    // The pair's slot, with two noughts where it was not there.
    Slot& at(uint64_t key) {
        Slot& slot = slots_[place(key)];
        if (slot.round != round_) slot = {key, round_, 0, 0};
        return slot;
    }

    // Null where the pair is not there.
    const Slot* find(uint64_t key) const {
        const Slot& slot = slots_[place(key)];
        return slot.round == round_ ? &slot : nullptr;
    }

    static uint64_t key(int32_t one, int32_t two) {
        return static_cast<uint64_t>(static_cast<uint32_t>(one)) << 32 | static_cast<uint32_t>(two);
    }

private:
    static constexpr size_t small = 1 << 9;
    static constexpr size_t large = 1 << 16;

    size_t place(uint64_t key) const {
        size_t at = static_cast<size_t>(key * 0x9e3779b97f4a7c15ull >> shift_);
        while (slots_[at].round == round_ && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
        return at;
    }

    std::vector<Slot> slots_;
    uint32_t round_ = 0;
    int shift_ = 0;
};

}  // namespace synthesis
