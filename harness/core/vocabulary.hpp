// The word lists of a language, looked up by word.
#pragma once

#include <algorithm>
#include <unordered_map>

#include "description.hpp"
#include "memory.hpp"

namespace synthesis {

// On which lists a word stands. The last ones are asked of the word without its plural ending, or of what
// comes before its apostrophe.
namespace mark {
enum : uint32_t {
    function = 1,
    pronoun = 1 << 1,
    personal = 1 << 2,
    opener = 1 << 3,
    person = 1 << 4,
    everyday = 1 << 5,
    neutral_talk = 1 << 6,
    trouble = 1 << 7,
    told_of = 1 << 8,
    passed_on = 1 << 9,
    says_little = 1 << 10,
    feeling = 1 << 11,
    away = 1 << 12,
    neutral = 1 << 13,
    third = 1 << 14,
};
}

struct Word {
    bool known = false;
    Kind kind = Kind::fresh;
    uint32_t marks = 0;
    int32_t stem = 0;
    int32_t number = -1;      // in figures or in words
    int32_t claim_stem = -1;  // the first letters, where it is long enough and says something
    uint64_t fields = 0;
};

class Vocabulary {
public:
    Vocabulary(const Description& description, Memory& memory);

    // By the word's number; gone when another one is asked for.
    const Word& word(int32_t number) {
        if (number >= static_cast<int32_t>(words_.size()) || !words_[number].known) learn(number);
        return words_[number];
    }

    const Said& said(Sentence& sentence, View text);

    // The numbers that words say, each once, ascending.
    template <class Begin>
    void numbers(Begin begin, Begin end, std::vector<int32_t>& found);

    // As the memory does: numbers then stand for other words.
    void forget() {
        words_.clear();
        at_.clear();
    }

private:
    struct Ending {
        Text ending;
        Text instead;
        bool verbal;
    };

    void learn(int32_t number);
    uint32_t marks_of(View word) const;
    int32_t value_of(View word) const;
    Text stem(View word) const;
    View singular(View word) const;
    Text cut(View word) const;
    void sort_words(Said& said);
    void split(View text);

    Memory& memory_;
    std::unordered_map<Text, uint32_t, Hash, std::equal_to<>> marks_;
    std::unordered_map<Text, Text, Hash, std::equal_to<>> same_;
    std::unordered_map<Text, uint64_t, Hash, std::equal_to<>> fields_;
    std::unordered_map<Text, int32_t, Hash, std::equal_to<>> numerals_;
    std::vector<Ending> endings_;
    std::vector<Text> plural_;
    Text vowels_, kept_double_;
    size_t short_;
    size_t claim_stem_;
    std::vector<Word> words_;
    // Of the sentence that is being looked at:
    std::vector<int32_t> sentence_, numbers_;  // its words, and the numbers they say
    std::vector<Span> places_;                 // of its words
    std::vector<Stem> stems_;
    std::vector<Clause> clauses_;
    std::vector<int32_t> at_;  // by stem: one more than its place in a sentence's list, 0 between sentences
};

template <class Begin>
void Vocabulary::numbers(Begin begin, Begin end, std::vector<int32_t>& found) {
    found.clear();
    int32_t tens = 0;
    for (; begin != end; ++begin) {
        const int32_t value = word(*begin).number;
        if (value < 0) {
            tens = 0;
            continue;
        }
        const int32_t whole = value < 10 ? tens + value : value;
        if (whole > 1) found.push_back(whole);
        tens = value >= 20 && value < 100 && value % 10 == 0 ? value : 0;
    }
    if (found.size() > 1) {
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
    }
}

}  // namespace synthesis
