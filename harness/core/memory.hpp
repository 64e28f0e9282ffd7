// What is remembered of sentences and words: each is looked at once, however often it comes back.
#pragma once

#include <array>
#include <deque>

#include "numbered.hpp"
#include "rule_group.hpp"
#include "said.hpp"

namespace synthesis {

constexpr int searches = 2;  // for what people say, and for what is said to them

enum class Known : uint8_t { unknown, no, yes };

struct Sentence {
    std::array<bool, searches> searched{};
    std::array<std::vector<Place>, searches> places;
    std::array<Known, searches> crossed{};  // whether a rule that crosses sentences may begin with it
    Said said;
    Claim claim;
};

class Memory {
public:
    // What is known of a sentence; it stays where it is until `tidy`.
    Sentence& sentence(View text);

    // The number of a word or stem, the same until `tidy`.
    int32_t word(View text);
    Text word_text(int32_t number) const { return words_.text(number); }
    int32_t words() const { return words_.size(); }

    // Between two turns: forgets everything where it has become too much; says whether it did.
    bool tidy();
    void forget();

    void grew(size_t bytes) { bytes_ += bytes; }

private:
    Numbered texts_;
    std::deque<Sentence> sentences_;
    Numbered words_;
    size_t bytes_ = 0;
};

}  // namespace synthesis
