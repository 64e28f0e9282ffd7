// Finds quotations between straight marks, and fences of code, which are three apostrophes once folded.
#include "quotation.hpp"

#include <algorithm>

#include "fold_editor.hpp"

namespace synthesis {

namespace {

constexpr char32_t mask = '~';

// The most characters from one mark to the other.
constexpr int32_t reach(char32_t mark) { return mark == '"' ? 600 : 300; }

bool opens(View text, int32_t place) {
    const char32_t before = at(text, place - 1);
    if (is_alnum(before) || before == '"' || before == '\'') return false;
    return place + 1 < length(text) && !is_space(text[place + 1]);
}

bool closes(View text, int32_t place) {
    return place > 0 && !is_space(text[place - 1]) && !is_alnum(at(text, place + 1));
}

bool is_fence(View text, int32_t place) { return text.substr(place, 3) == U"'''"; }

// `'cause`, `'til` and the like: the apostrophe stands for letters left out.
bool is_elision(View text, int32_t place) {
    const int32_t longest = 5;
    int32_t end = place + 1;
    while (end <= place + 1 + longest && is_word(at(text, end))) ++end;
    const View word = text.substr(place + 1, end - place - 1);
    for (View known : {U"cause", U"cos", U"coz", U"til", U"till", U"em", U"n", U"bout", U"round", U"twas",
                       U"tis", U"s"}) {
        if (word == known) return true;
    }
    return false;
}

// Where the quotation that begins at an opening mark ends, 0 where it does not. The next mark that opens
// or closes decides, so that no stretch of text is looked through twice for the same mark.
int32_t quotation_end(View text, int32_t start) {
    const char32_t mark = text[start];
    const View within = text.substr(0, std::min<size_t>(text.size(), start + reach(mark) + 1));
    for (int32_t place = next(within, start + 1, mark); place < length(within);
         place = next(within, place + 1, mark)) {
        if (closes(text, place)) return place + 1;
        if (opens(text, place)) return 0;
    }
    return 0;
}

int32_t fence_end(View text, int32_t start) {
    const size_t end = text.find(U"'''", start + 3);
    return end == View::npos ? length(text) : static_cast<int32_t>(end) + 3;
}

// Where what begins at this mark ends, 0 where nothing does.
int32_t quoted_end(View text, int32_t place) {
    if (text[place] == '\'' && is_fence(text, place)) return fence_end(text, place);
    if (!opens(text, place)) return 0;
    if (text[place] == '\'' && is_elision(text, place)) return 0;
    return quotation_end(text, place);
}

}  // namespace

void mask_quotations(View text, int32_t from, Text& own) {
    own.clear();
    const int32_t size = length(text);
    for (int32_t place = from; place < size; ++place) {
        if (text[place] != '"' && text[place] != '\'') continue;
        const int32_t end = quoted_end(text, place);
        if (end == 0) continue;
        if (end - place == size) return;
        if (own.empty()) own = text;
        for (; place < end; ++place) {
            if (text[place] != '\n') own[place] = mask;
        }
        --place;
    }
}

}  // namespace synthesis
