// Texts as bytes, to be compared and looked up.
#pragma once

#include <algorithm>
#include <cstring>

#include "text.hpp"

namespace synthesis {

// Adds a byte for each character where that is enough, else four, and one more that says which.
inline void pack(View text, std::string& packed) {
    const size_t before = packed.size();
    packed.resize(before + text.size() + 1);
    char* place = packed.data() + before;
    char32_t all = 0;
    for (const char32_t c : text) {
        all |= c;
        *place++ = static_cast<char>(c);
    }
    *place = '\1';
    if (all < 256) return;
    packed.resize(before);
    packed.append(reinterpret_cast<const char*>(text.data()), 4 * text.size());
    packed += '\4';
}

inline Text unpacked(std::string_view packed) {
    if (packed.back() == '\4') {
        Text text(packed.size() / 4, 0);
        std::memcpy(text.data(), packed.data(), packed.size() - 1);
        return text;
    }
    Text text;
    for (size_t at = 0; at + 1 < packed.size(); ++at) text += static_cast<unsigned char>(packed[at]);
    return text;
}

// Sixteen bytes at a time, in two strands that do not wait for each other.
inline uint64_t hash_of(std::string_view bytes) {
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

}  // namespace synthesis
