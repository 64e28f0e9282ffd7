// Characters that are written in several ways and mean one, and which kinds folding has to look at.
#pragma once

#include <array>

#include "sixteen.hpp"
#include "text.hpp"

namespace synthesis {

namespace kind {
constexpr uint16_t blank = 1 << 0;  // a space or a line break; the lowest bit, see `Editor::make_plain`
constexpr uint16_t newline = 1 << 1;
constexpr uint16_t returned = 1 << 2;  // a carriage return, which may be half of a line break
constexpr uint16_t hyphen = 1 << 3;
constexpr uint16_t emphasis = 1 << 4;
constexpr uint16_t tilde = 1 << 5;
constexpr uint16_t one = 1 << 6;
constexpr uint16_t invisible = 1 << 7;  // Unicode's Default_Ignorable_Code_Point
constexpr uint16_t spelt_out = 1 << 8;  // a mark that is written here in several characters
constexpr uint16_t keycap = 1 << 9;
constexpr uint16_t long_dash = 1 << 10;
constexpr uint16_t picture = 1 << 11;  // emoji, arrows and signs; what joins and colours them is invisible
constexpr uint16_t refused = 1 << 12;  // left to Python
constexpr uint16_t every = 0xffff;
}  // namespace kind

// What to do with a character: its plain form is `c ^ change`, and `kinds` are those of the plain form.
struct Character {
    uint16_t change = 0;
    uint16_t kinds = 0;
};

constexpr char32_t near_end = 0x3200;  // what lies behind is mostly letters, which stay as they are

constexpr std::array<Character, near_end> near_characters = [] {
    std::array<Character, near_end> table{};
    auto plain = [&](char32_t to, View from) {
        for (char32_t c : from) table[c] = {static_cast<uint16_t>(c ^ to), table[to].kinds};
    };
    auto mark = [&](uint16_t kinds, char32_t first, char32_t last) {
        for (char32_t c = first; c <= last; ++c) table[c].kinds = kinds;
    };
    auto mark_each = [&](uint16_t kinds, View all) {
        for (char32_t c : all) table[c].kinds = kinds;
    };
    mark_each(kind::blank, U" ");
    mark_each(kind::blank | kind::newline, U"\n");
    mark_each(kind::hyphen, U"-");
    mark_each(kind::emphasis, U"*_");
    mark_each(kind::tilde, U"~");
    mark_each(kind::one, U"1");
    mark_each(kind::invisible, U"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u3164");
    mark(kind::invisible, 0x180b, 0x180f);
    mark(kind::invisible, 0x200b, 0x200f);
    mark(kind::invisible, 0x202a, 0x202e);
    mark(kind::invisible, 0x2060, 0x206f);
    mark_each(kind::spelt_out, U"\u2026\u203c\u2047\u2048\u2049");
    mark_each(kind::keycap, U"\u20e3");
    mark_each(kind::long_dash, U"\u2013\u2014\u2015");
    mark(kind::picture, 0x2190, 0x21ff);
    mark(kind::picture, 0x2300, 0x23ff);
    mark(kind::picture, 0x25a0, 0x27bf);
    mark(kind::picture, 0x2900, 0x297f);
    mark(kind::picture, 0x2b00, 0x2bff);
    mark_each(kind::refused, U"\u03a3");
    plain('\'', U"\u2018\u2019\u201a\u201b\u2032\u00b4\u02bc`");
    plain('"', U"\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\u300c\u300d");
    plain(' ', U"\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a");
    plain(' ', U"\u202f\u205f\u3000\t\v\f\x1c\x1d\x1e\x1f");
    plain('\n', U"\u2028\u2029\u0085\r");
    plain('-', U"\u2010\u2011");
    plain(0x2039, U"<");
    plain(0x203a, U">");
    plain('I', U"\u0130");
    table['\r'].kinds |= kind::returned;
    return table;
}();

inline Character far_character(char32_t c) {
    auto within = [c](char32_t first, char32_t last) { return c >= first && c <= last; };
    if (c < 0xd800) return {};
    if (c < 0xe000) return {0, kind::refused};
    if (within(0xff01, 0xff5e)) {
        const char32_t narrow = c - 0xfee0, to = narrow ^ near_characters[narrow].change;
        return {static_cast<uint16_t>(c ^ to), near_characters[narrow].kinds};
    }
    if (within(0x1f000, 0x1faff)) return {0, kind::picture};
    if (within(0xfe00, 0xfe0f) || c == 0xfeff || c == 0xffa0 || within(0xfff0, 0xfff8) ||
        within(0x1bca0, 0x1bca3) || within(0x1d173, 0x1d17a) || within(0xe0000, 0xe0fff)) {
        return {0, kind::invisible};
    }
    return {};
}

inline Character character(char32_t c) { return c < near_end ? near_characters[c] : far_character(c); }

// Whether all of them are as they should be, and of no kind but spaces.
inline bool are_plain(Sixteen few) {
    const Sixteen odd = few.are_odd(' ') | few.are('*') | few.are('-') | few.are('1') | few.are('<') | few.are('>') |
                        few.are('_') | few.are('`') | few.are('~');
    return odd.bits() == 0;
}

static_assert([] {
    for (char32_t c = ' '; c < 128; ++c) {
        const bool odd = View(U"*-1<>_`~").find(c) != View::npos;
        if (odd == (near_characters[c].change == 0 && (near_characters[c].kinds & ~kind::blank) == 0)) return false;
    }
    return true;
}());

inline bool is_invisible(char32_t c) { return c >= 128 && character(c).kinds & kind::invisible; }

inline bool is_picture(char32_t c) { return c >= 128 && character(c).kinds & kind::picture; }

}  // namespace synthesis
