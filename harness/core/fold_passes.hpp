// What folding looks for: each finds its leftmost match from `from` on, as the pattern of its name in
// `harness.folding` does. What stands before `from` is still seen by what looks behind.
#pragma once

#include "fold_editor.hpp"

namespace synthesis {

bool find_crlf(View text, int32_t from, Span& found);
bool find_invisible(View text, int32_t from, Span& found);
bool find_spelt_out(View text, int32_t from, Span& found);
bool find_keycap_item(View text, int32_t from, Span& found);
bool find_keycap(View text, int32_t from, Span& found);
bool find_long_dash(View text, int32_t from, Span& found);
bool find_emoji_before_mark(View text, int32_t from, Span& found);
bool find_emoji(View text, int32_t from, Span& found);

bool find_trailing(View text, int32_t from, Span& found);
bool find_wrapped(View text, int32_t from, Span& found);
bool find_break(View text, int32_t from, Span& found);
bool find_next_bullet(View text, int32_t from, Span& found);
bool find_next_heading(View text, int32_t from, Span& found);
bool find_inline_bullet(View text, int32_t from, Span& found);
bool find_double_hyphen(View text, int32_t from, Span& found);
bool find_emphasis(View text, int32_t from, Span& found);
bool find_spaces(View text, int32_t from, Span& found);
bool find_item_break(View text, int32_t from, Span& found);

// Where the text's first bullet or heading mark ends, 0 where it begins with none.
int32_t first_bullet(View text);
int32_t first_heading(View text);

// Whether an item numbered 1 is there: otherwise numbers within a line are ages and dates.
bool has_item_one(View text);

// What a mark in one character is spelt out as.
View spelt_out(char32_t mark);

}  // namespace synthesis
