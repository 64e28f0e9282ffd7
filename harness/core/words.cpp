#include "words.hpp"

namespace synthesis {

namespace {

size_t hash_of(WordKey key) {
    const uint64_t mixed = (key.first ^ key.second * 0x9e3779b97f4a7c15ull) * 0x2127599bf4325c37ull;
    return static_cast<size_t>(mixed ^ mixed >> 32);
}

}  // namespace

int32_t Words::number(WordKey key) {
    constexpr size_t size = 2 * most;
    if (slots_.empty()) slots_.resize(size);
    size_t slot = hash_of(key) & (size - 1);
    for (; slots_[slot].number; slot = (slot + 1) & (size - 1)) {
        if (slots_[slot].key == key) return slots_[slot].number;
    }
    if (is_full()) return any;
    slots_[slot] = {key, ++words_};
    return words_;
}

}  // namespace synthesis
