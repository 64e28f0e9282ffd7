// What the words of a sentence say, worked out once.
#pragma once

#include <span>

#include "text.hpp"

namespace synthesis {

enum class Kind : uint8_t { function, feeling, away, fresh, neutral };

// A word without its endings, with what the last word of the sentence that has it is. Words and stems are
// numbers of `Memory::word`; a field is a bit.
struct Stem {
    int32_t stem;
    Kind kind;
    uint64_t fields;
};

// A stretch between commas, in offsets of its sentence, and its words: from one number up to another.
struct Clause {
    int32_t start;
    int32_t end;
    int32_t first;
    int32_t last;
    bool asks;  // or has no word in it
};

struct Said {
    bool known = false;
    bool personal = false;  // speaks to or of someone
    bool asks = false;      // or has no word in it
    bool exclaims = false;
    uint32_t marks = 0;  // of all words together, see `Vocabulary`
    int32_t pronouns = 0;
    std::span<const int32_t> words;
    std::span<const Stem> stems;  // of words that are no function words, each once
    std::span<const int32_t> numbers;  // in figures or in words, each once, ascending
    std::span<const Clause> clauses;
};

// What the checks for claims and echoes want to know of a piece of text; rarely asked.
struct Claim {
    bool stated_known = false;
    bool claimed_known = false;
    bool told_known = false;
    bool opens_with_pronoun = false;
    std::span<const int32_t> stated;   // short stems of a sentence that states a fact, ascending
    std::span<const int32_t> claimed;  // those of a claim
    std::span<const int32_t> told;     // its words without apostrophes, where it neither asks nor passes on
};

// Calls `found(start, end)` for each `[^\W_]+(?:'[^\W_]+)*`.
template <class Found>
void each_word(View text, Found found) {
    const auto size = static_cast<int32_t>(text.size());
    for (int32_t at = 0; at < size; ++at) {
        if (!is_alnum(text[at])) continue;
        const int32_t start = at;
        const auto goes_on = [&] { return text[at] == U'\'' && at + 1 < size && is_alnum(text[at + 1]); };
        do ++at;
        while (at < size && (is_alnum(text[at]) || goes_on()));
        found(start, at);
    }
}

}  // namespace synthesis
