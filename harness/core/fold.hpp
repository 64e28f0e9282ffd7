// A text made plain, with the way back to the original: what `harness.text.fold` gives.
#pragma once

#include "text.hpp"

namespace synthesis {

struct Folded {
    Text original;
    Text text;  // lower case, plain characters, one sentence a line
    Text own;   // `text` with quotations blanked out; empty where there are none
    std::vector<int32_t> places;  // of each folded place, and the one behind, in the original; empty: the same
    std::vector<int32_t> items;   // where list items begin
    std::vector<Span> lines;      // the sentences; a text without words has none

    // Where a folded span stands in the original.
    Span origin(int32_t start, int32_t end) const;

    View line(size_t number) const {
        return View(text).substr(lines[number].start, lines[number].end - lines[number].start);
    }
};

// Folds `folded.original` and fills in everything else, reusing its memory. False where only Python's own
// functions know how (a capital sigma, whose lower case depends on its place; a lone surrogate).
bool fold(Folded& folded);

}  // namespace synthesis
