// Patterns as instructions of a machine that reads one character at a time.
#pragma once

#include "alphabet.hpp"

namespace synthesis {

struct Instruction {
    enum class Kind : uint8_t { one_of, assertion, either, matched };
    Kind kind;
    int32_t argument;  // a set of characters, or an assertion
    int32_t next;
    int32_t other;  // of `either`: what is tried where `next` leads nowhere

    bool operator==(const Instruction&) const = default;
};

class Program {
public:
    Program(const Tree& tree, Alphabet& alphabet);

    const Instruction& operator[](int32_t number) const { return instructions_[number]; }
    int32_t entry() const { return entry_; }
    int32_t size() const { return static_cast<int32_t>(instructions_.size()); }

private:
    static std::vector<int32_t>& table();
    int32_t add(Instruction instruction);
    size_t slot_of(const Instruction& instruction) const;
    int32_t compile(const Tree& tree, int32_t node, int32_t next);
    int32_t compile_repeat(const Tree& tree, const Node& node, int32_t next);
    int32_t either(int32_t first, int32_t second, bool lazy);

    std::vector<Instruction> instructions_;
    int32_t entry_;
    // While it is made:
    Alphabet& alphabet_;
    std::vector<int32_t>& known_;  // the instructions, in an open table
};

}  // namespace synthesis
