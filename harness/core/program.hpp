// Patterns as instructions of a machine that reads one character at a time.
#pragma once

#include <array>
#include <unordered_map>

#include "pattern.hpp"

namespace synthesis {

struct Instruction {
    enum class Kind : uint8_t { one_of, assertion, either, matched };
    Kind kind;
    int32_t argument;  // a set of characters, an assertion, or the number of the pattern that has matched
    int32_t next;
    int32_t other;  // of `either`: what is tried where `next` leads nowhere

    bool operator==(const Instruction&) const = default;
};

constexpr int most_classes = 128;

// Characters that no pattern tells apart are one class. The last class stands for the end of the text.
class Alphabet {
public:
    void build(const std::vector<Ranges>& sets);

    uint8_t class_of(char32_t c) const { return c < 128 ? low_[c] : class_of_high(c); }
    int classes() const { return classes_; }
    uint8_t end() const { return static_cast<uint8_t>(classes_ - 1); }
    bool is_word(uint8_t number) const { return word_[number]; }
    bool is_break(uint8_t number) const { return break_[number]; }
    bool has(int32_t set, uint8_t number) const { return members_[set * classes_ + number]; }

private:
    uint8_t class_of_high(char32_t c) const;

    int classes_ = 0;
    std::array<uint8_t, 128> low_{};
    std::vector<char32_t> starts_;  // from each of these on, up to the next, the class is the same
    std::vector<uint8_t> kinds_;
    std::vector<uint8_t> members_;
    std::array<bool, most_classes> word_{};
    std::array<bool, most_classes> break_{};
};

// Several patterns, each with its number, as one program.
class Program {
public:
    explicit Program(const std::vector<Text>& patterns);

    const Instruction& operator[](int32_t number) const { return instructions_[number]; }
    const std::vector<int32_t>& entries() const { return entries_; }
    int32_t size() const { return static_cast<int32_t>(instructions_.size()); }
    const Alphabet& alphabet() const { return alphabet_; }
    size_t bytes() const { return instructions_.size() * sizeof(Instruction); }

private:
    int32_t add(Instruction instruction);
    size_t slot_of(const Instruction& instruction) const;
    int32_t set_of(const Tree& tree, const Node& node);
    int32_t set_of(const Ranges& ranges);
    int32_t compile(const Tree& tree, int32_t node, int32_t next);
    int32_t compile_repeat(const Tree& tree, const Node& node, int32_t next);
    int32_t either(int32_t first, int32_t second, bool lazy);

    std::vector<Instruction> instructions_;
    std::vector<int32_t> entries_;
    std::vector<Ranges> sets_;
    Alphabet alphabet_;
    // While it is made:
    std::vector<int32_t> known_;  // the instructions, in an open table
    std::array<int32_t, 128> letters_;
    std::unordered_map<Text, int32_t, Hash> known_sets_;
};

}  // namespace synthesis
