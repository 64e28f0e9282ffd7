// Folding: one plain view of a text, one sentence a line, pass by pass as in `harness.folding`.
#include "fold.hpp"

#include <algorithm>
#include <bit>

#include "fold_passes.hpp"
#include "quotation.hpp"

namespace synthesis {

namespace {

constexpr View item_text = U"\x1e";
constexpr size_t most = 1 << 29;  // spelt out, three times as many characters must still be counted

// What is not seen goes; marks in one character are spelt out; a number in a box begins an item.
void fold_unusual(Editor& editor) {
    if (editor.may_have(kind::invisible)) editor.replace(find_invisible, U"");
    if (editor.may_have(kind::spelt_out)) editor.replace_each(find_spelt_out, spelt_out);
    if (editor.may_have(kind::keycap)) {
        editor.replace(find_keycap_item, U"- ");
        editor.replace(find_keycap, U" ");
    }
}

void fold_breaks(Editor& editor) {
    if (editor.may_have(kind::newline) && editor.may_have_two(kind::blank)) editor.replace(find_break, U"\n");
}

// Lines broken for width are joined; bullets and heading marks become line breaks. Says whether there are
// list items.
bool fold_lists(Editor& editor) {
    const bool numbered = editor.may_have(kind::one) && has_item_one(editor.text());
    bool items = editor.replace_start(first_bullet(editor.text()), item_text);
    editor.replace_start(first_heading(editor.text()), U"");
    if (editor.may_have(kind::newline)) {
        if (editor.may_have_two(kind::blank)) editor.replace(find_trailing, U"");
        editor.replace(find_wrapped, U" ");
        fold_breaks(editor);
        items |= editor.replace(find_next_bullet, item_text);
        editor.replace(find_next_heading, U"\n");
    }
    if (numbered) items |= editor.replace(find_inline_bullet, item_text);
    return items;
}

// Dashes and pictures become plain or go; so does emphasis.
void fold_marks(Editor& editor) {
    if (editor.may_have(kind::long_dash)) editor.replace(find_long_dash, U" - ");
    if (editor.may_have(kind::picture)) {
        editor.replace(find_emoji_before_mark, U"");
        editor.replace(find_emoji, U" ");
    }
    if (editor.may_have_two(kind::hyphen)) editor.replace(find_double_hyphen, U" - ");
    const bool struck = editor.may_have(kind::tilde) && editor.may_have_two(kind::tilde);
    if (struck || editor.may_have(kind::emphasis)) editor.replace(find_emphasis, U"");
}

// One space between words, one break between lines.
void fold_blanks(Editor& editor, bool items) {
    if (editor.may_have_two(kind::blank)) editor.replace(find_spaces, U" ");
    fold_breaks(editor);
    if (items) editor.replace(find_item_break, item_text);
}

bool is_break(char32_t c) { return c == ' ' || c == '\n' || c == item; }

// After an abbreviation or a letter, "I" aside, a full stop does not end a sentence. `stop` is its place;
// what stands before it is in lower case by now.
bool is_abbreviation(View text, int32_t stop) {
    const int32_t longest = 6;
    int32_t start = stop;
    while (start > 0 && stop - start <= longest && is_word(text[start - 1])) --start;
    const int32_t size = stop - start;
    if (size == 0 || size > longest) return false;
    if (size == 1) return !is_digit(text[start]) && text[start] != 'i';
    char32_t letters[longest];
    for (int32_t place = 0; place < size; ++place) {
        const char32_t c = text[start + place];
        letters[place] = c == 0x17f ? 's' : c;  // a long s, which is one to Python where case is ignored
    }
    for (View known : {U"dr", U"mr", U"ms", U"st", U"vs", U"mrs", U"etc", U"prof", U"approx"}) {
        if (View(letters, size) == known) return true;
    }
    return false;
}

// The place of the blank where a sentence ends that has its mark at `place`, 0 where none does.
int32_t sentence_end(View text, int32_t place) {
    int32_t end = place + 1;
    for (; end <= place + 3; ++end) {
        const char32_t c = at(text, end);
        if (c != '"' && c != '\'' && c != ')' && c != ']') break;
    }
    if (at(text, end) != ' ') return 0;
    if (text[place] == '.' && end == place + 1 && is_abbreviation(text, place)) return 0;
    return end;
}

// Apostrophes inside words open nothing, and most texts have no others; of a fence, the first may follow one.
bool may_open(View text, int32_t place) {
    return text[place] == '"' || !is_alnum(at(text, place - 1)) || at(text, place + 1) == '\'';
}

// Capital letters, marks that end sentences or open quotations, and what is no ASCII or controls.
Sixteen that_matter(Sixteen few) {
    const Sixteen capitals = few.are_odd('Z' + 1).without(few.are_odd('A'));
    return capitals | few.are_odd(' ') | few.are('.') | few.are('!') | few.are('?') | few.are('"') | few.are('\'');
}

// Lower case, and a line break behind each sentence; gives where the first quotation may begin.
int32_t finish_lines(Folded& folded) {
    const View text = folded.text;
    char32_t* const characters = folded.text.data();
    const int32_t size = length(text);
    int32_t start = 0, quoted = size;
    for (int32_t first = 0; first < size; first += Sixteen::size) {
        uint32_t left = that_matter(next_sixteen(characters + first, characters + size)).bits();
        if (size - first < Sixteen::size) left &= (1u << (size - first)) - 1;
        for (; left; left &= left - 1) {
            const int32_t place = first + std::countr_zero(left);
            const char32_t c = text[place];
            switch (c) {
                case '.': case '!': case '?':
                    if (const int32_t end = sentence_end(text, place); end != 0) {
                        characters[end] = '\n';
                        left |= end < first + Sixteen::size ? 1u << (end - first) : 0;
                    }
                    break;
                case '\n': case item:
                    if (c == item) folded.items.push_back(place + 1);
                    characters[place] = '\n';
                    folded.lines.push_back({start, place});
                    start = place + 1;
                    break;
                case '"': case '\'':
                    if (quoted == size && may_open(text, place)) quoted = place;
                    break;
                default:
                    if (c >= 'A') characters[place] = c < 128 ? c | 0x20 : Py_UNICODE_TOLOWER(c);
            }
        }
    }
    if (size > 0) folded.lines.push_back({start, size});
    return quoted;
}

}  // namespace

Span Folded::origin(int32_t start, int32_t end) const {
    if (places.empty()) return {start, std::max(start, end)};
    if (end <= start) return {places[start], places[start]};
    return {places[start], places[end - 1] + 1};
}

bool fold(Folded& folded) {
    if (folded.original.size() > most) return false;
    folded.items.clear();
    folded.lines.clear();
    folded.text = folded.original;
    Editor editor(folded.text, folded.places);
    editor.make_plain();
    if (editor.may_have(kind::refused)) return false;
    if (editor.may_have(kind::returned)) {
        folded.text = folded.original;
        editor.replace(find_crlf, U"\n");
        editor.make_plain();
    }
    fold_unusual(editor);
    const bool items = fold_lists(editor);
    fold_marks(editor);
    fold_blanks(editor, items);
    Text& text = folded.text;
    if (!text.empty() && text[0] == item) folded.items.push_back(0);
    const auto said = std::find_if_not(text.begin(), text.end(), is_break);
    editor.replace_start(static_cast<int32_t>(said - text.begin()), U"");
    size_t size = text.size();
    while (size > 0 && is_break(text[size - 1])) --size;
    text.resize(size);
    mask_quotations(text, finish_lines(folded), folded.own);
    return true;
}

}  // namespace synthesis
