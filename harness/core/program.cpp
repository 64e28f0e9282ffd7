#include "program.hpp"

#include <bit>
#include <utility>

namespace synthesis {

namespace {

constexpr int32_t most_instructions = 1'000'000;

}  // namespace

Program::Program(const Tree& tree, Alphabet& alphabet) : alphabet_(alphabet), known_(table()) {
    known_.assign(std::bit_ceil(2 * static_cast<size_t>(tree.size()) + 64), -1);
    entry_ = compile(tree, tree.root(), add({Instruction::Kind::matched, 0, -1, -1}));
    instructions_.shrink_to_fit();
}

// One for all programs, which are made one after the other.
std::vector<int32_t>& Program::table() {
    static thread_local std::vector<int32_t> table;
    return table;
}

// What is the same from here on is there once: endings that many words share make the machine small.
int32_t Program::add(Instruction instruction) {
    size_t slot = slot_of(instruction);
    if (known_[slot] >= 0) return known_[slot];
    if (size() >= most_instructions) throw Unsupported("a pattern is too large");
    instructions_.push_back(instruction);
    known_[slot] = size() - 1;
    if (instructions_.size() * 2 < known_.size()) return size() - 1;
    known_.assign(2 * known_.size(), -1);
    for (int32_t number = 0; number < size(); ++number) {
        size_t free = slot_of(instructions_[number]);
        if (known_[free] < 0) known_[free] = number;
    }
    return size() - 1;
}

// Where an instruction is in the table of those that are known, or would be.
size_t Program::slot_of(const Instruction& instruction) const {
    const auto part = [](auto number) { return static_cast<uint64_t>(static_cast<uint32_t>(number)); };
    uint64_t hash = part(instruction.next) << 32 | part(instruction.argument);
    hash ^= (part(instruction.other) << 8 | part(instruction.kind)) * 0x9e3779b97f4a7c15ull;
    hash *= 0x2127599bf4325c37ull;
    size_t slot = (hash >> 32 ^ hash >> 51) & (known_.size() - 1);
    while (known_[slot] >= 0 && instructions_[known_[slot]] != instruction) slot = (slot + 1) & (known_.size() - 1);
    return slot;
}

int32_t Program::either(int32_t first, int32_t second, bool lazy) {
    if (first == second) return first;
    if (lazy) std::swap(first, second);
    return add({Instruction::Kind::either, 0, first, second});
}

// Where a node begins that goes on at `next`.
int32_t Program::compile(const Tree& tree, int32_t number, int32_t next) {
    const Node& node = tree[number];
    const auto parts = tree.parts(node);
    switch (node.kind) {
        case Node::Kind::empty: return next;
        case Node::Kind::one_of:
            return add({Instruction::Kind::one_of, alphabet_.set_of(tree, node), next, -1});
        case Node::Kind::assertion:
            return add({Instruction::Kind::assertion, static_cast<int32_t>(node.assertion), next, -1});
        case Node::Kind::sequence:
            for (size_t part = parts.size(); part-- > 0;) next = compile(tree, parts[part], next);
            return next;
        case Node::Kind::choice: {
            int32_t entry = -1;
            for (size_t part = parts.size(); part-- > 0;) {
                int32_t here = compile(tree, parts[part], next);
                entry = entry < 0 ? here : either(here, entry, false);
            }
            return entry;
        }
        case Node::Kind::repeat: return compile_repeat(tree, node, next);
    }
    return next;
}

int32_t Program::compile_repeat(const Tree& tree, const Node& node, int32_t next) {
    int32_t part = tree.parts(node)[0];
    int32_t entry = next;
    if (node.most < 0) {
        // The loop refers to itself, so it cannot be one that is known already.
        entry = size();
        instructions_.push_back({Instruction::Kind::either, 0, -1, -1});
        int32_t body = compile(tree, part, entry);
        instructions_[entry].next = node.lazy ? next : body;
        instructions_[entry].other = node.lazy ? body : next;
    } else {
        for (int32_t count = node.least; count < node.most; ++count) {
            entry = either(compile(tree, part, entry), next, node.lazy);
        }
    }
    for (int32_t count = 0; count < node.least; ++count) entry = compile(tree, part, entry);
    return entry;
}

}  // namespace synthesis
