// Text as code points, and what Python's `re` and `str` say about a character.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>
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

inline uint64_t hash_of(View text) {
    uint64_t hash = text.size();
    for (char32_t c : text) hash = (hash ^ c) * 0x9e3779b97f4a7c15ull, hash ^= hash >> 32;
    return hash;
}

struct Hash {
    using is_transparent = void;
    size_t operator()(View text) const { return hash_of(text); }
};

}  // namespace synthesis
