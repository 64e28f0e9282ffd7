// Sets of small numbers.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace synthesis {

constexpr int count_ones(uint64_t bits) {
#if defined(__POPCNT__) || defined(__aarch64__)
    return std::popcount(bits);
#else  // it would be a call
    bits -= bits >> 1 & 0x5555555555555555;
    bits = (bits & 0x3333333333333333) + (bits >> 2 & 0x3333333333333333);
    return static_cast<int>(((bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56);
#endif
}

template <int words>
struct Bits {
    static constexpr int most = 64 * words;

    std::array<uint64_t, words> parts{};

    // The numbers below this one.
    static constexpr Bits below(int number) {
        Bits found;
        for (int at = 0; at < words; ++at) {
            const int left = number - 64 * at;
            if (left > 0) found.parts[at] = left >= 64 ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
        }
        return found;
    }
    static constexpr Bits all() { return below(most); }

    constexpr void add(int number) { parts[number / 64] |= uint64_t{1} << (number % 64); }
    constexpr bool has(int number) const { return parts[number / 64] >> (number % 64) & 1; }
    constexpr explicit operator bool() const {
        uint64_t any = 0;
        for (const uint64_t part : parts) any |= part;
        return any != 0;
    }

    constexpr Bits& operator&=(const Bits& other) {
        for (int at = 0; at < words; ++at) parts[at] &= other.parts[at];
        return *this;
    }
    constexpr Bits& operator|=(const Bits& other) {
        for (int at = 0; at < words; ++at) parts[at] |= other.parts[at];
        return *this;
    }
    constexpr Bits operator&(const Bits& other) const { return Bits(*this) &= other; }
    constexpr Bits operator|(const Bits& other) const { return Bits(*this) |= other; }
    constexpr Bits operator~() const {
        Bits others;
        for (int at = 0; at < words; ++at) others.parts[at] = ~parts[at];
        return others;
    }
    constexpr bool operator==(const Bits&) const = default;

    // Calls `found(number)` for each, in ascending order.
    template <class Found>
    constexpr void each(Found found) const {
        for (int at = 0; at < words; ++at)
            for (uint64_t part = parts[at]; part; part &= part - 1) found(64 * at + std::countr_zero(part));
    }
    constexpr bool are_at_most(int number) const {
        for (uint64_t part : parts)
            for (; part; part &= part - 1)
                if (number-- == 0) return false;
        return true;
    }
};

using Classes = Bits<2>;   // of characters, see `Alphabet`
using Patterns = Bits<4>;  // that are looked for together

}  // namespace synthesis
