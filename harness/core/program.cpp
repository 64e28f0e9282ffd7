#include "program.hpp"

#include <algorithm>

namespace synthesis {

namespace {

constexpr int32_t most_instructions = 4'000'000;

const Ranges word_set{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
const Ranges break_set{{'\n', '\n'}};

// What comes often gets low numbers, so that what is looked up often stands close together.
constexpr std::string_view frequent = " etaoinshrdlu";

bool contains(const Ranges& ranges, char32_t c) {
    for (Range each : ranges) {
        if (c <= each.last) return c >= each.first;
    }
    return false;
}

}  // namespace

void Alphabet::build(const std::vector<Ranges>& given) {
    std::vector<Ranges> sets(given);
    sets.push_back(word_set);
    sets.push_back(break_set);
    starts_ = {0};
    for (const Ranges& set : sets) {
        for (Range each : set) {
            starts_.push_back(each.first);
            if (each.last < last_character) starts_.push_back(each.last + 1);
        }
    }
    std::sort(starts_.begin(), starts_.end());
    starts_.erase(std::unique(starts_.begin(), starts_.end()), starts_.end());
    std::vector<std::vector<bool>> signatures;
    auto class_with = [&](char32_t c) {
        std::vector<bool> signature;
        for (const Ranges& set : sets) signature.push_back(contains(set, c));
        auto found = std::find(signatures.begin(), signatures.end(), signature);
        const size_t number = found - signatures.begin();
        if (found == signatures.end()) signatures.push_back(std::move(signature));
        if (signatures.size() >= most_classes) throw Unsupported("patterns tell too many characters apart");
        return static_cast<uint8_t>(number);
    };
    for (char c : frequent) class_with(c);
    kinds_.clear();
    for (char32_t start : starts_) kinds_.push_back(class_with(start));
    classes_ = static_cast<int>(signatures.size()) + 1;
    members_.assign(given.size() * classes_, 0);
    for (size_t number = 0; number < signatures.size(); ++number) {
        for (size_t set = 0; set < given.size(); ++set) members_[set * classes_ + number] = signatures[number][set];
        word_[number] = signatures[number][given.size()];
        break_[number] = signatures[number][given.size() + 1];
    }
    for (char32_t c = 0; c < 128; ++c) low_[c] = class_of_high(c);
}

uint8_t Alphabet::class_of_high(char32_t c) const {
    return kinds_[std::upper_bound(starts_.begin(), starts_.end(), c) - starts_.begin() - 1];
}

Program::Program(const std::vector<Text>& patterns) : known_(1024, -1) {
    letters_.fill(-1);
    for (size_t number = 0; number < patterns.size(); ++number) {
        Tree tree(patterns[number]);
        int32_t matched = add({Instruction::Kind::matched, static_cast<int32_t>(number), -1, -1});
        entries_.push_back(compile(tree, tree.root(), matched));
    }
    known_ = {};
    known_sets_ = {};
    instructions_.shrink_to_fit();
    alphabet_.build(sets_);
    sets_ = {};
}

// What is the same from here on is there once: endings that many words share make the machine small.
int32_t Program::add(Instruction instruction) {
    size_t slot = slot_of(instruction);
    if (known_[slot] >= 0) return known_[slot];
    if (size() >= most_instructions) throw Unsupported("the patterns are too large");
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
    uint64_t hash = static_cast<uint64_t>(instruction.kind) * 0x9e3779b97f4a7c15ull;
    for (int32_t part : {instruction.argument, instruction.next, instruction.other}) {
        hash = (hash ^ static_cast<uint32_t>(part)) * 0x2127599bf4325c37ull;
        hash ^= hash >> 31;
    }
    size_t slot = hash & (known_.size() - 1);
    while (known_[slot] >= 0 && instructions_[known_[slot]] != instruction) slot = (slot + 1) & (known_.size() - 1);
    return slot;
}

int32_t Program::set_of(const Tree& tree, const Node& node) {
    const char32_t letter = node.letter;
    if (letter == no_letter) return set_of(tree.set(node.set));
    if (letter >= 128) return set_of(Ranges{{letter, letter}});
    if (letters_[letter] < 0) letters_[letter] = set_of(Ranges{{letter, letter}});
    return letters_[letter];
}

int32_t Program::set_of(const Ranges& ranges) {
    Text key;
    for (Range each : ranges) key.append({each.first, each.last});
    auto [found, fresh] = known_sets_.try_emplace(std::move(key), static_cast<int32_t>(sets_.size()));
    if (fresh) sets_.push_back(ranges);
    return found->second;
}

int32_t Program::either(int32_t first, int32_t second, bool lazy) {
    if (first == second) return first;
    if (lazy) std::swap(first, second);
    return add({Instruction::Kind::either, 0, first, second});
}

// Where a node begins that goes on at `next`.
int32_t Program::compile(const Tree& tree, int32_t number, int32_t next) {
    const Node& node = tree[number];
    switch (node.kind) {
        case Node::Kind::empty: return next;
        case Node::Kind::one_of:
            return add({Instruction::Kind::one_of, set_of(tree, node), next, -1});
        case Node::Kind::assertion:
            return add({Instruction::Kind::assertion, static_cast<int32_t>(node.assertion), next, -1});
        case Node::Kind::sequence:
            for (size_t part = node.parts.size(); part-- > 0;) next = compile(tree, node.parts[part], next);
            return next;
        case Node::Kind::choice: {
            int32_t entry = -1;
            for (size_t part = node.parts.size(); part-- > 0;) {
                int32_t here = compile(tree, node.parts[part], next);
                entry = entry < 0 ? here : either(here, entry, false);
            }
            return entry;
        }
        case Node::Kind::repeat: return compile_repeat(tree, node, next);
    }
    return next;
}

int32_t Program::compile_repeat(const Tree& tree, const Node& node, int32_t next) {
    int32_t part = node.parts[0];
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
