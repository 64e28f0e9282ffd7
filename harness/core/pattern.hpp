// Patterns in RE2's syntax, read into a tree. Those with anything beyond what lexicons use are refused.
#pragma once

#include <span>

#include "text.hpp"

namespace synthesis {

struct Range {
    char32_t first;
    char32_t last;
    bool operator==(const Range&) const = default;
};

// Characters, as ranges that are sorted and do not touch.
using Ranges = std::vector<Range>;

constexpr char32_t last_character = 0x10ffff;
constexpr char32_t no_letter = 0xffffffff;

enum class Assertion : uint8_t { line_start, line_end, text_start, text_end, boundary, no_boundary };
constexpr int assertions = 6;

struct Node {
    enum class Kind : uint8_t { empty, one_of, assertion, sequence, choice, repeat };
    Kind kind = Kind::empty;
    Assertion assertion = Assertion::boundary;
    bool lazy = false;
    int32_t least = 0;
    int32_t most = 0;  // -1: without end
    char32_t letter = no_letter;  // of `one_of`, where there is but one
    int32_t set = -1;             // of `one_of`, where there are several: `Tree::set`
    int32_t first = 0;            // of its parts: those of a sequence or choice, or the one that is repeated
    int32_t last = 0;             // one behind
};

// A tree of nodes, each named by its number.
class Tree {
public:
    explicit Tree(View pattern);

    const Node& operator[](int32_t number) const { return nodes_[number]; }
    int32_t root() const { return root_; }
    int32_t size() const { return static_cast<int32_t>(nodes_.size()); }
    const Ranges& set(int32_t number) const { return sets_[number]; }
    std::span<const int32_t> parts(const Node& node) const {
        return {parts_.data() + node.first, parts_.data() + node.last};
    }
    bool may_be_empty(int32_t number) const;

private:
    friend class Reader;
    int32_t add(const Node& node);
    int32_t joined(Node node, std::span<const int32_t> parts);
    int32_t sequence(std::span<const int32_t> given);
    int32_t choice(std::span<const int32_t> given);
    bool some_begin_alike(std::span<const int32_t> parts) const;
    bool all_begin_alike(std::span<const int32_t> parts) const;
    int32_t with_heads_shared(const std::vector<int32_t>& parts);
    int32_t head(int32_t number) const;
    int32_t without_head(int32_t number);

    std::vector<Node> nodes_;
    std::vector<int32_t> parts_;  // of all nodes; what is left of a sequence without its head is there once
    std::vector<Ranges> sets_;
    std::vector<int32_t> alternatives_;  // of what is being read
    int32_t root_ = 0;
};

}  // namespace synthesis
