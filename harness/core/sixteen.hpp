// Sixteen characters at a time, as bytes.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define SYNTHESIS_SSE2
#endif

namespace synthesis {

// What has no room in a byte stands as 0xff. What is asked of all of them is answered for each: 0xff where it is so.
class Sixteen {
public:
    static constexpr int size = 16;

#ifdef SYNTHESIS_SSE2
    explicit Sixteen(const char* from) : bytes_(load(from)) {}
    explicit Sixteen(const char32_t* from)
        : bytes_(_mm_packus_epi16(_mm_packs_epi32(load(from), load(from + 4)),
                                  _mm_packs_epi32(load(from + 8), load(from + 12)))) {}

    Sixteen are(char c) const { return Sixteen(_mm_cmpeq_epi8(bytes_, _mm_set1_epi8(c))); }
    // Not ASCII, or below a character.
    Sixteen are_odd(char least) const { return Sixteen(_mm_cmplt_epi8(bytes_, _mm_set1_epi8(least))); }
    Sixteen operator|(Sixteen other) const { return Sixteen(_mm_or_si128(bytes_, other.bytes_)); }
    Sixteen without(Sixteen other) const { return Sixteen(_mm_andnot_si128(other.bytes_, bytes_)); }

    // A bit for each answer, the first the lowest.
    uint32_t bits() const { return static_cast<uint32_t>(_mm_movemask_epi8(bytes_)); }

    void write(char* to) const { store(to, bytes_); }
    void write(char32_t* to) const {
        const __m128i none = _mm_setzero_si128();
        const __m128i low = _mm_unpacklo_epi8(bytes_, none), high = _mm_unpackhi_epi8(bytes_, none);
        store(to, _mm_unpacklo_epi16(low, none));
        store(to + 4, _mm_unpackhi_epi16(low, none));
        store(to + 8, _mm_unpacklo_epi16(high, none));
        store(to + 12, _mm_unpackhi_epi16(high, none));
    }

private:
    explicit Sixteen(__m128i bytes) : bytes_(bytes) {}
    static __m128i load(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }
    static void store(void* to, __m128i bytes) { _mm_storeu_si128(static_cast<__m128i*>(to), bytes); }

    __m128i bytes_;
#else
    explicit Sixteen(const char* from) { std::memcpy(bytes_.data(), from, size); }
    explicit Sixteen(const char32_t* from) {
        for (int at = 0; at < size; ++at) bytes_[at] = from[at] < 0xff ? static_cast<uint8_t>(from[at]) : 0xff;
    }

    Sixteen are(char c) const {
        return each([c](uint8_t byte) { return byte == static_cast<uint8_t>(c); });
    }
    // Not ASCII, or below a character.
    Sixteen are_odd(char least) const {
        return each([least](uint8_t byte) { return byte >= 128 || byte < least; });
    }
    Sixteen operator|(Sixteen other) const {
        for (int at = 0; at < size; ++at) other.bytes_[at] |= bytes_[at];
        return other;
    }
    Sixteen without(Sixteen other) const {
        for (int at = 0; at < size; ++at) other.bytes_[at] = bytes_[at] & ~other.bytes_[at];
        return other;
    }

    // A bit for each answer, the first the lowest.
    uint32_t bits() const {
        uint32_t found = 0;
        for (int at = 0; at < size; ++at) found |= static_cast<uint32_t>(bytes_[at] >> 7) << at;
        return found;
    }

    void write(char* to) const { std::memcpy(to, bytes_.data(), size); }
    void write(char32_t* to) const {
        for (int at = 0; at < size; ++at) to[at] = bytes_[at];
    }

private:
    Sixteen() = default;
    template <class Is>
    Sixteen each(Is is) const {
        Sixteen found;
        for (int at = 0; at < size; ++at) found.bytes_[at] = is(bytes_[at]) ? 0xff : 0;
        return found;
    }

    std::array<uint8_t, size> bytes_;
#endif
};

// The next sixteen; where there are fewer, NUL stands behind them.
template <class Character>
Sixteen next_sixteen(const Character* at, const Character* end) {
    if (end - at >= Sixteen::size) return Sixteen(at);
    std::array<Character, Sixteen::size> rest{};
    std::copy(at, end, rest.begin());
    return Sixteen(rest.data());
}

// How many of them, from the first on, stand for themselves in a JSON string: ASCII, and neither control characters,
// quotation marks nor backslashes.
inline int plain_in_json(Sixteen few) {
    const uint32_t odd = (few.are_odd(' ') | few.are('"') | few.are('\\')).bits();
    return std::countr_zero(odd | 1u << Sixteen::size);
}

}  // namespace synthesis
