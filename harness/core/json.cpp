#include "json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace synthesis {

namespace {

constexpr int32_t millionths = 1'000'000;
constexpr size_t large = 1 << 20;  // what one endless text needs is not kept

constexpr std::array<bool, 128> plain = [] {
    std::array<bool, 128> table{};
    for (int c = 0x20; c < 128; ++c) table[c] = c != '"' && c != '\\';
    return table;
}();

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
    if (capacity_ <= large) return;
    buffer_.reset();
    capacity_ = 0;
}

void Json::grow(size_t bytes) {
    const size_t larger = std::max<size_t>(1024, size_ + bytes + (size_ + bytes) / 2);
    std::unique_ptr<char[]> grown(new char[larger]);
    if (size_) std::memcpy(grown.get(), buffer_.get(), size_);
    buffer_ = std::move(grown);
    capacity_ = larger;
}

void Json::inside(View text) {
    constexpr size_t longest = 6;
    char* const begin = room(longest * text.size());
    char* out = begin;
    for (const char32_t c : text) {
        if (c < 128 && plain[c]) {
            *out++ = static_cast<char>(c);
        } else {
            out = c < 128 ? escape(c, out) : encode(c, out);
        }
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
