// Texts and their numbers, in the order in which they were first seen.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>

#include "text.hpp"

namespace synthesis {

class Numbered {
public:
    int32_t size() const { return static_cast<int32_t>(keys_.size()); }

    // The number of a text, which is `size()` as it was before where the text is new.
    int32_t number(View text) {
        if (2 * (keys_.size() + 1) > slots_.size()) grow();
        pack(text);
        const uint64_t hash = hash_of(packed_);
        size_t slot = hash & (slots_.size() - 1);
        for (; slots_[slot].number >= 0; slot = (slot + 1) & (slots_.size() - 1)) {
            if (slots_[slot].hash == hash && keys_[slots_[slot].number] == packed_) return slots_[slot].number;
        }
        keys_.push_back(packed_);
        slots_[slot] = {hash, size() - 1};
        return size() - 1;
    }

    Text text(int32_t number) const {
        const std::string& key = keys_[number];
        if (key.back() == 1) {
            Text text;
            for (size_t at = 0; at + 1 < key.size(); ++at) text += static_cast<unsigned char>(key[at]);
            return text;
        }
        Text text(key.size() / 4, 0);
        std::memcpy(text.data(), key.data(), key.size() - 1);
        return text;
    }

    void clear() { *this = Numbered(); }

private:
    struct Slot {
        uint64_t hash = 0;
        int32_t number = -1;
    };

    // A byte for each character where that is enough, else four, and one more that says which.
    void pack(View text) {
        char32_t all = 0;
        for (char32_t c : text) all |= c;
        if (all < 256) {
            packed_.resize(text.size() + 1);
            for (size_t at = 0; at < text.size(); ++at) packed_[at] = static_cast<char>(text[at]);
            packed_[text.size()] = 1;
        } else {
            packed_.assign(reinterpret_cast<const char*>(text.data()), 4 * text.size());
            packed_ += '\4';
        }
    }

    // Sixteen bytes at a time, in two strands that do not wait for each other.
    static uint64_t hash_of(const std::string& bytes) {
        constexpr uint64_t odd = 0x9e3779b97f4a7c15ull;
        uint64_t one = bytes.size(), two = ~one, part[2];
        for (size_t at = 0; at < bytes.size(); at += sizeof part) {
            part[0] = part[1] = 0;
            std::memcpy(part, bytes.data() + at, std::min(sizeof part, bytes.size() - at));
            one = (one ^ part[0]) * odd;
            two = (two ^ part[1]) * odd;
            one ^= one >> 32;
            two ^= two >> 32;
        }
        one = (one ^ (two >> 7) ^ (two << 57)) * odd;
        return one ^ one >> 29;
    }

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
