#include "json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <new>

#include "sixteen.hpp"

namespace synthesis {

namespace {

constexpr int32_t millionths = 1'000'000;
constexpr size_t large = 1 << 20;  // what one endless text needs is not kept
constexpr size_t most_expected = 8 << 20;
constexpr size_t least = 1024;

// What a control character, a quotation mark or a backslash is written as.
char* escape(char32_t c, char* out) {
    constexpr char hexadecimal[] = "0123456789abcdef";
    *out++ = '\\';
    switch (c) {
        case '\b': *out++ = 'b'; return out;
        case '\t': *out++ = 't'; return out;
        case '\n': *out++ = 'n'; return out;
        case '\f': *out++ = 'f'; return out;
        case '\r': *out++ = 'r'; return out;
        case '"':
        case '\\': *out++ = static_cast<char>(c); return out;
        default: break;
    }
    out = std::copy_n("u00", 3, out);
    *out++ = hexadecimal[c >> 4];
    *out++ = hexadecimal[c & 15];
    return out;
}

char* encode(char32_t c, char* out) {
    if (c < 0x800) {
        *out++ = static_cast<char>(0xc0 | c >> 6);
    } else if (c < 0x10000) {
        *out++ = static_cast<char>(0xe0 | c >> 12);
        *out++ = static_cast<char>(0x80 | (c >> 6 & 0x3f));
    } else {
        *out++ = static_cast<char>(0xf0 | c >> 18);
        *out++ = static_cast<char>(0x80 | (c >> 12 & 0x3f));
        *out++ = static_cast<char>(0x80 | (c >> 6 & 0x3f));
    }
    *out++ = static_cast<char>(0x80 | (c & 0x3f));
    return out;
}

}  // namespace

void Json::clear() {
    size_ = 0;
    if (capacity_ > large) resize(0);
}

Owned Json::take() {
    resize(size_);
    taken_ = std::min(size_, most_expected);
    Owned taken(bytes_ != nullptr ? bytes_ : PyBytes_FromStringAndSize(nullptr, 0));
    bytes_ = nullptr;
    data_ = nullptr;
    size_ = capacity_ = 0;
    return taken;
}

void Json::grow(size_t bytes) {
    const size_t needed = size_ + bytes;
    resize(std::max({least, needed + needed / 2, taken_ + taken_ / 8}));
}

void Json::resize(size_t capacity) {
    if (capacity == 0) {
        Py_CLEAR(bytes_);
    } else if (bytes_ == nullptr) {
        bytes_ = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(capacity));
    } else {
        _PyBytes_Resize(&bytes_, static_cast<Py_ssize_t>(capacity));
    }
    data_ = bytes_ != nullptr ? PyBytes_AS_STRING(bytes_) : nullptr;
    capacity_ = bytes_ != nullptr ? capacity : 0;
    size_ = std::min(size_, capacity_);
    if (capacity_ == capacity) return;
    PyErr_Clear();
    throw std::bad_alloc();
}

void Json::inside(View text) {
    constexpr size_t longest = 6;
    char* const begin = room(longest * text.size() + Sixteen::size);
    char* out = begin;
    const char32_t* at = text.data();
    const char32_t* const end = at + text.size();
    while (at != end) {
        const Sixteen few = next_sixteen(at, end);
        const int plain = plain_in_json(few);
        few.write(out);
        at += plain, out += plain;
        if (plain == Sixteen::size || at == end) continue;
        const char32_t c = *at++;
        out = c < 128 ? escape(c, out) : encode(c, out);
    }
    size_ += out - begin;
}

void Json::number(int32_t value) {
    constexpr size_t longest = 11;
    char* const begin = room(longest);
    size_ += std::to_chars(begin, begin + longest, value).ptr - begin;
}

void Json::share(double value) {
    auto rest = static_cast<int32_t>(std::lround(value * millionths));
    if (rest == 0 || rest == millionths) return raw(rest ? "1.0" : "0.0");
    if (rest < 10) {
        number(rest);
        return raw("e-6");
    }
    char digits[] = "0.000000";
    for (int at = 7; at > 1; --at, rest /= 10) digits[at] = static_cast<char>('0' + rest % 10);
    std::string_view written(digits, 8);
    raw(written.substr(0, written.find_last_not_of('0') + 1));
}

}  // namespace synthesis
