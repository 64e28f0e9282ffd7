// Finds what lays a text out: line breaks, list items, headings, emphasis, blanks.
#include "fold_passes.hpp"

namespace synthesis {

namespace {

// `[-*+•][ ]+|\[[ x]\][ ]+`, or nothing: a second bullet or a box to tick.
int32_t skip_nested(View text, int32_t place) {
    const char32_t c = at(text, place);
    int32_t end = place;
    if (c == '-' || c == '*' || c == '+' || c == 0x2022) {
        end = place + 1;
    } else if (c == '[' && (at(text, place + 1) == ' ' || at(text, place + 1) == 'x') &&
               at(text, place + 2) == ']') {
        end = place + 3;
    }
    return at(text, end) == ' ' ? skip(text, end, ' ') : place;
}

// `\(?\d{1,2}[.)]`; 0 where it is not there.
int32_t skip_number(View text, int32_t place) {
    if (at(text, place) == '(') ++place;
    if (!is_digit(at(text, place))) return 0;
    ++place;
    if (is_digit(at(text, place))) ++place;
    return at(text, place) == '.' || at(text, place) == ')' ? place + 1 : 0;
}

// A bullet or number with the blanks behind it; 0 where it is not there.
int32_t skip_bullet(View text, int32_t place) {
    int32_t end = 0;
    switch (at(text, place)) {
        case '-': case '*': case '+': case 0x2022: case 0xb7: case 0x2013: case 0x2014: case 0x203a:
            end = place + 1;
            break;
        default:
            end = skip_number(text, place);
    }
    return end != 0 && at(text, end) == ' ' ? skip_nested(text, skip(text, end, ' ')) : 0;
}

// One to six `#` with the blanks behind them; 0 where they are not there.
int32_t skip_heading(View text, int32_t place) {
    int32_t end = place;
    while (end < place + 6 && at(text, end) == '#') ++end;
    return end > place && at(text, end) == ' ' ? skip_nested(text, skip(text, end, ' ')) : 0;
}

// The first line break from `from` on about which `match` gives a span that is not empty.
template <typename Match>
bool find_at_break(View text, int32_t from, Span& found, Match match) {
    const int32_t size = length(text);
    for (int32_t place = next(text, from, '\n'); place < size; place = next(text, place + 1, '\n')) {
        found = match(place);
        if (found.end > found.start) return true;
    }
    return false;
}

// The letters by which a line is known to go on in lower case: Latin, Greek, Cyrillic, Armenian.
bool is_lower(char32_t c) {
    if (c < 128) return c >= 'a' && c <= 'z';
    return (c < 0x590 || (c >= 0x1e00 && c < 0x2000)) && Py_UNICODE_ISLOWER(c);
}

}  // namespace

int32_t first_bullet(View text) { return skip_bullet(text, skip_blanks(text, 0)); }

int32_t first_heading(View text) { return skip_heading(text, skip_blanks(text, 0)); }

bool has_item_one(View text) {
    const int32_t size = length(text);
    for (int32_t place = next(text, 0, '1'); place < size; place = next(text, place + 1, '1')) {
        const char32_t mark = at(text, place + 1);
        if ((mark == '.' || mark == ')') && at(text, place + 2) == ' ' && !is_word(at(text, place - 1))) {
            return true;
        }
    }
    return false;
}

bool find_trailing(View text, int32_t from, Span& found) {
    return find_at_break(text, from, found, [=](int32_t place) {
        int32_t start = place;
        while (start > from && text[start - 1] == ' ') --start;
        return Span{start, place};
    });
}

// A line broken for width: nothing ended before it and it goes on in lower case.
bool find_wrapped(View text, int32_t from, Span& found) {
    return find_at_break(text, from, found, [=](int32_t place) {
        const char32_t before = at(text, place - 1);
        const bool open = is_word(before) || before == ',' || before == '\'' || before == '"';
        if (!open) return Span{};
        const int32_t end = skip(text, place + 1, ' ');
        return is_lower(at(text, end)) ? Span{place, end} : Span{};
    });
}

bool find_break(View text, int32_t from, Span& found) {
    return find_at_break(text, from, found, [=](int32_t place) {
        const bool spaced = place > from && text[place - 1] == ' ';
        const int32_t end = skip_blanks(text, place + 1);
        return spaced || end > place + 1 ? Span{place - spaced, end} : Span{};
    });
}

bool find_next_bullet(View text, int32_t from, Span& found) {
    return find_at_break(text, from, found, [=](int32_t place) {
        return Span{place, skip_bullet(text, place + 1)};
    });
}

bool find_next_heading(View text, int32_t from, Span& found) {
    return find_at_break(text, from, found, [=](int32_t place) {
        return Span{place, skip_heading(text, place + 1)};
    });
}

bool find_inline_bullet(View text, int32_t from, Span& found) {
    const int32_t size = length(text);
    for (int32_t place = next(text, from, ' '); place < size; place = next(text, place + 1, ' ')) {
        const int32_t number = skip_number(text, place + 1);
        if (number == 0 || at(text, number) != ' ') continue;
        const char32_t before = at(text, place - 1);
        const bool parted = before == ':' || before == ';' || before == '.' || before == ',' ||
                            before == '!' || before == '?' || before == ')' || is_word(before);
        if (!parted) continue;
        const int32_t end = skip(text, number, ' ');
        if (!is_word(at(text, end)) || is_digit(at(text, end))) continue;
        found = {place, end};
        return true;
    }
    return false;
}

bool find_double_hyphen(View text, int32_t from, Span& found) {
    const int32_t size = length(text);
    for (int32_t place = next(text, from, '-'); place < size; place = next(text, place, '-')) {
        int32_t end = place;
        while (end < size && text[end] == '-') ++end;
        const char32_t before = at(text, place - 1), after = at(text, end);
        const bool in_word = end - place == 2 && is_word(before) && is_word(after);
        const bool spaced = (end - place == 2 || end - place == 3) && before == ' ' && after == ' ';
        if (in_word || spaced) {
            found = {place, end};
            return true;
        }
        place = end;
    }
    return false;
}

bool find_emphasis(View text, int32_t from, Span& found) {
    const int32_t size = length(text);
    for (int32_t place = from; place < size; ++place) {
        const char32_t c = text[place];
        if (c != '*' && c != '_' && c != '~') continue;
        int32_t end = place + 1;
        if (c == '*') {
            while (end < size && text[end] == '*') ++end;
        } else if (c == '~') {
            end = at(text, end) == '~' ? end + 1 : place;
        } else {
            while (end < place + 3 && at(text, end) == '_') ++end;
            // Between two letters it is part of a name; of several, the last is then taken by itself.
            if (is_alnum(at(text, place - 1)) && is_alnum(at(text, end))) --end;
        }
        if (end == place) continue;
        found = {place, end};
        return true;
    }
    return false;
}

bool find_spaces(View text, int32_t from, Span& found) {
    const int32_t size = length(text);
    // Single spaces are everywhere: eight pairs at a time are looked at without a branch for each.
    for (; size - from > 8; from += 8) {
        unsigned hit = 0;
        for (int32_t step = 0; step < 8; ++step) {
            hit |= ((text[from + step] ^ U' ') | (text[from + step + 1] ^ U' ')) == 0;
        }
        if (hit) break;
    }
    while (from < size && (text[from] != ' ' || at(text, from + 1) != ' ')) ++from;
    if (from == size) return false;
    found = {from, skip(text, from + 2, ' ')};
    return true;
}

bool find_item_break(View text, int32_t from, Span& found) {
    const int32_t size = length(text);
    for (int32_t place = next(text, from, item); place < size; place = next(text, place + 1, item)) {
        const bool parted = place > from && (text[place - 1] == ' ' || text[place - 1] == '\n');
        int32_t end = place + 1;
        while (at(text, end) == ' ' || at(text, end) == '\n' || at(text, end) == item) ++end;
        if (!parted && end == place + 1) continue;
        found = {place - parted, end};
        return true;
    }
    return false;
}

}  // namespace synthesis
