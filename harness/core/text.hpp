// Text as code points, and what Python's `re` and `str` say about a character.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace synthesis {

using Text = std::u32string;
using View = std::u32string_view;

// A pattern, or a set of them, that only RE2 can take.
struct Unsupported : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A text that needs too many steps here; the Python way is slower and always linear.
struct TooMuch {};

struct Span {
    int32_t start;
    int32_t end;
};

// `[^\W_]` of a Python pattern: a letter or a digit.
inline bool is_alnum(char32_t c) {
    if (c < 128) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return Py_UNICODE_ISALNUM(c);
}

// `\w` of a Python pattern.
inline bool is_word(char32_t c) { return is_alnum(c) || c == '_'; }

// `\d` of a Python pattern.
inline bool is_digit(char32_t c) { return c < 128 ? c >= '0' && c <= '9' : Py_UNICODE_ISDECIMAL(c); }

// `\s` of a Python pattern.
inline bool is_space(char32_t c) { return Py_UNICODE_ISSPACE(c); }

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

inline uint64_t hash_of(View text) {
    return hash_of(std::string_view(reinterpret_cast<const char*>(text.data()), text.size() * sizeof(char32_t)));
}

struct Hash {
    using is_transparent = void;
    size_t operator()(View text) const { return hash_of(text); }
};

}  // namespace synthesis
