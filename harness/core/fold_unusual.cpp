// Finds what ASCII does not have: invisible characters, marks in one character, keycaps, dashes, pictures.
#include "fold_passes.hpp"

namespace synthesis {

namespace {

// A run of characters of which the first is at `from` or later.
template <typename Is>
bool find_run(View text, int32_t from, Span& found, Is is) {
    const int32_t size = length(text);
    while (from < size && !is(text[from])) ++from;
    if (from == size) return false;
    found.start = from;
    while (from < size && is(text[from])) ++from;
    found.end = from;
    return true;
}

int32_t skip_pictures(View text, int32_t from) {
    while (is_picture(at(text, from))) ++from;
    return from;
}

// `[.,!?;:]|["')\]](?!\w)`: a mark that follows what is said, not what comes.
bool mark_follows(View text, int32_t place) {
    switch (at(text, place)) {
        case '.': case ',': case '!': case '?': case ';': case ':':
            return true;
        case '"': case '\'': case ')': case ']':
            return !is_word(at(text, place + 1));
        default:
            return false;
    }
}

bool ends_clause(char32_t c) { return c == '.' || c == '!' || c == '?' || c == ';' || c == ':'; }

// Pictures with the blanks before and between them; `place` itself where there are none.
int32_t skip_spaced_pictures(View text, int32_t place) {
    int32_t end = place;
    for (int32_t start = skip(text, place, ' '); is_picture(at(text, start)); start = skip(text, end, ' ')) {
        end = skip_pictures(text, start);
        if (at(text, end) != ' ') break;
    }
    return end;
}

bool is_long_dash(char32_t c) { return c >= 0x2013 && c <= 0x2015; }

constexpr char32_t keycap_mark = 0x20e3;

}  // namespace

bool find_crlf(View text, int32_t from, Span& found) {
    const int32_t size = length(text);
    for (int32_t place = next(text, from, '\r'); place < size; place = next(text, place + 1, '\r')) {
        if (at(text, place + 1) != '\n') continue;
        found = {place, place + 2};
        return true;
    }
    return false;
}

bool find_invisible(View text, int32_t from, Span& found) {
    return find_run(text, from, found, is_invisible);
}

bool find_long_dash(View text, int32_t from, Span& found) {
    return find_run(text, from, found, is_long_dash);
}

bool find_emoji(View text, int32_t from, Span& found) {
    return find_run(text, from, found, is_picture);
}

View spelt_out(char32_t mark) {
    switch (mark) {
        case 0x2026: return U"...";
        case 0x203c: return U"!!";
        case 0x2047: return U"??";
        case 0x2048: return U"?!";
        case 0x2049: return U"!?";
        default: return {};
    }
}

bool find_spelt_out(View text, int32_t from, Span& found) {
    for (const int32_t size = length(text); from < size; ++from) {
        if (spelt_out(text[from]).empty()) continue;
        found = {from, from + 1};
        return true;
    }
    return false;
}

bool find_keycap_item(View text, int32_t from, Span& found) {
    const int32_t size = length(text);
    for (; from < size; from = next(text, from, '\n') + 1) {
        if (from > 0 && text[from - 1] != '\n') continue;
        const int32_t number = skip(text, from, ' ');
        const char32_t digit = at(text, number);
        if (digit < '0' || digit > '9' || at(text, number + 1) != keycap_mark) continue;
        const char32_t after = at(text, number + 2);
        const bool marked = after == '.' || after == ')' || after == ':';
        found = {from, skip(text, number + 2 + marked, ' ')};
        return true;
    }
    return false;
}

bool find_keycap(View text, int32_t from, Span& found) {
    const int32_t size = length(text);
    for (int32_t place = next(text, from, keycap_mark); place < size;
         place = next(text, place + 1, keycap_mark)) {
        if (place == from) continue;
        const char32_t key = text[place - 1];
        if ((key < '0' || key > '9') && key != '#' && key != '*') continue;
        found = {place - 1, place + 1};
        return true;
    }
    return false;
}

// Leaves no blank before the mark, and takes none that parts it from a sentence before.
bool find_emoji_before_mark(View text, int32_t from, Span& found) {
    const int32_t size = length(text);
    for (int32_t place = from; place < size; ++place) {
        if (text[place] != ' ' && !is_picture(text[place])) continue;
        const char32_t before = at(text, place - 1);
        if (is_picture(before)) continue;
        if (before != ' ' && !ends_clause(before)) {
            const int32_t end = skip_spaced_pictures(text, place);
            if (end > place && mark_follows(text, end)) {
                found = {place, end};
                return true;
            }
        }
        const int32_t end = skip_pictures(text, place);
        if (end > place && mark_follows(text, end)) {
            found = {place, end};
            return true;
        }
    }
    return false;
}

}  // namespace synthesis
