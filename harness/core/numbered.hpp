// Texts and their numbers, in the order in which they were first seen.
#pragma once

#include <deque>

#include "packed.hpp"

namespace synthesis {

class Numbered {
public:
    int32_t size() const { return static_cast<int32_t>(keys_.size()); }

    // The number of a text, which is `size()` as it was before where the text is new.
    int32_t number(View text) {
        if (2 * (keys_.size() + 1) > slots_.size()) grow();
        packed_.clear();
        pack(text, packed_);
        const uint64_t hash = hash_of(std::string_view(packed_));
        size_t slot = hash & (slots_.size() - 1);
        for (; slots_[slot].number >= 0; slot = (slot + 1) & (slots_.size() - 1)) {
            if (slots_[slot].hash == hash && keys_[slots_[slot].number] == packed_) return slots_[slot].number;
        }
        keys_.push_back(packed_);
        slots_[slot] = {hash, size() - 1};
        return size() - 1;
    }

    Text text(int32_t number) const { return unpacked(keys_[number]); }

    void clear() { *this = Numbered(); }

private:
    struct Slot {
        uint64_t hash = 0;
        int32_t number = -1;
    };

    void grow() {
        std::vector<Slot> fewer(slots_.empty() ? 1024 : 2 * slots_.size());
        fewer.swap(slots_);
        for (const Slot& each : fewer) {
            if (each.number < 0) continue;
            size_t slot = each.hash & (slots_.size() - 1);
            while (slots_[slot].number >= 0) slot = (slot + 1) & (slots_.size() - 1);
            slots_[slot] = each;
        }
    }

    std::deque<std::string> keys_;
    std::vector<Slot> slots_;  // an open table, at most half full
    std::string packed_;
};

}  // namespace synthesis
