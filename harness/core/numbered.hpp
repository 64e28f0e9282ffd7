// Texts and their numbers, in the order in which they were first seen.
#pragma once

#include "arena.hpp"
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
        for (; slots_[slot].key != nullptr; slot = (slot + 1) & (slots_.size() - 1))
            if (slots_[slot].hash == hash && slots_[slot].key->text() == packed_) return slots_[slot].key->number;
        slots_[slot] = {hash, kept()};
        return slots_[slot].key->number;
    }

    Text text(int32_t number) const { return unpacked(keys_[number]->text()); }

    void clear() { *this = Numbered(); }

private:
    // A number, and a text that stands behind it.
    struct Key {
        int32_t number;
        uint32_t size;

        std::string_view text() const { return {reinterpret_cast<const char*>(this + 1), size}; }
    };
    struct Slot {
        uint64_t hash = 0;
        const Key* key = nullptr;
    };

    const Key* kept() {
        auto* const key = new (arena_.take(sizeof(Key) + packed_.size()))
            Key{size(), static_cast<uint32_t>(packed_.size())};
        std::copy(packed_.begin(), packed_.end(), reinterpret_cast<char*>(key + 1));
        keys_.push_back(key);
        return key;
    }

    void grow() {
        std::vector<Slot> fewer(slots_.empty() ? 1024 : 2 * slots_.size());
        fewer.swap(slots_);
        for (const Slot& each : fewer) {
            if (each.key == nullptr) continue;
            size_t slot = each.hash & (slots_.size() - 1);
            while (slots_[slot].key != nullptr) slot = (slot + 1) & (slots_.size() - 1);
            slots_[slot] = each;
        }
    }

    Arena arena_;
    std::vector<const Key*> keys_;
    std::vector<Slot> slots_;  // an open table
    std::string packed_;
};

}  // namespace synthesis
