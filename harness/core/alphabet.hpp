// Characters that no pattern tells apart are one class. The last class stands for the end of the text.
#pragma once

#include <array>
#include <unordered_map>

#include "bits.hpp"
#include "pattern.hpp"

namespace synthesis {

// What stands before a place in a text.
enum Before : uint8_t { text_start, line_start, word, other };
constexpr int befores = 4;

// One for all patterns of a language, so that a text is read once for all of them.
class Alphabet {
public:
    Alphabet() { letters_.fill(-1); }

    // The number of a set of characters. New ones are taken until `build`.
    int32_t set_of(const Ranges& ranges);
    int32_t set_of(const Tree& tree, const Node& node);
    // All sets of a pattern that will be compiled later.
    void add(const Tree& tree);
    void build();

    uint8_t class_of(char32_t c) const { return c < 128 ? low_[c] : class_of_high(c); }
    // The classes of a text, and of its end.
    void read(View text, uint8_t* classes) const;
    int classes() const { return classes_; }
    uint8_t end() const { return static_cast<uint8_t>(classes_ - 1); }
    // What a character is to the place behind it: `word`, `line_start` or `other`.
    Before kind_of(uint8_t number) const { return kinds_[number]; }
    bool is_word(uint8_t number) const { return kinds_[number] == word; }
    bool is_break(uint8_t number) const { return kinds_[number] == line_start; }
    size_t sets() const { return members_.size(); }
    Classes members(int32_t set) const { return members_[set]; }
    // All characters that are the same to the place behind them.
    Classes same_kind(uint8_t number) const { return number == end() ? ends_ : of_kind_[kinds_[number]]; }
    // The characters, or the end, before which an assertion holds.
    Classes holding(Assertion assertion, Before before) const {
        return holding_[befores * static_cast<int>(assertion) + before];
    }

private:
    uint8_t class_of_high(char32_t c) const;
    void number_classes();
    Classes worked_out(Assertion assertion, Before before) const;

    int classes_ = 0;
    std::array<uint8_t, 128> low_{};
    std::vector<char32_t> starts_;  // from each of these on, up to the next, the class is the same
    std::vector<uint8_t> numbers_;
    std::vector<Classes> members_;
    std::vector<Classes> holding_;
    std::array<Classes, befores> of_kind_;
    Classes ends_;
    std::array<Before, Classes::most> kinds_{};
    // While it is made; the sets' numbers are kept for patterns that are compiled later:
    std::vector<Ranges> sets_;
    std::unordered_map<Text, int32_t, Hash> known_;
    std::array<int32_t, 128> letters_;
};

}  // namespace synthesis
