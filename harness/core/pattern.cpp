#include "pattern.hpp"

#include <algorithm>

namespace synthesis {

int32_t Tree::add(const Node& node) {
    nodes_.push_back(node);
    return static_cast<int32_t>(nodes_.size()) - 1;
}

// A node and its parts, which are not a piece of `parts_`.
int32_t Tree::joined(Node node, std::span<const int32_t> parts) {
    node.first = static_cast<int32_t>(parts_.size());
    parts_.insert(parts_.end(), parts.begin(), parts.end());
    node.last = static_cast<int32_t>(parts_.size());
    return add(node);
}

bool Tree::may_be_empty(int32_t number) const {
    const Node& node = nodes_[number];
    const auto parts = this->parts(node);
    auto empty = [this](int32_t part) { return may_be_empty(part); };
    switch (node.kind) {
        case Node::Kind::one_of: return false;
        case Node::Kind::sequence: return std::all_of(parts.begin(), parts.end(), empty);
        case Node::Kind::choice: return std::any_of(parts.begin(), parts.end(), empty);
        case Node::Kind::repeat: return node.least == 0 || empty(parts[0]);
        default: return true;
    }
}

// Sequences are kept flat: none of their parts is a sequence.
int32_t Tree::sequence(std::span<const int32_t> given) {
    const auto first = static_cast<int32_t>(parts_.size());
    for (const int32_t part : given) {
        const Node& node = nodes_[part];
        if (node.kind == Node::Kind::sequence) {
            for (int32_t at = node.first; at < node.last; ++at) parts_.push_back(parts_[at]);
        } else if (node.kind != Node::Kind::empty) {
            parts_.push_back(part);
        }
    }
    const auto last = static_cast<int32_t>(parts_.size());
    if (last - first > 1) return add({.kind = Node::Kind::sequence, .first = first, .last = last});
    const int32_t only = last > first ? parts_[first] : 0;
    parts_.resize(first);
    return only;
}

int32_t Tree::head(int32_t number) const {
    const Node& node = nodes_[number];
    return node.kind == Node::Kind::sequence ? parts_[node.first] : number;
}

int32_t Tree::without_head(int32_t number) {
    const Node& node = nodes_[number];
    if (node.kind != Node::Kind::sequence) return 0;
    if (node.last - node.first == 2) return parts_[node.first + 1];
    return add({.kind = Node::Kind::sequence, .first = node.first + 1, .last = node.last});
}

int32_t Tree::choice(std::span<const int32_t> given) {
    if (given.size() == 1) return given[0];
    const size_t before = alternatives_.size();
    for (const int32_t part : given) {
        const auto inner = this->parts(nodes_[part]);
        if (nodes_[part].kind != Node::Kind::choice) alternatives_.push_back(part);
        else alternatives_.insert(alternatives_.end(), inner.begin(), inner.end());
    }
    const auto parts = std::span(alternatives_).subspan(before);
    const int32_t found = some_begin_alike(parts) ? with_heads_shared({parts.begin(), parts.end()})
                                             : joined({.kind = Node::Kind::choice}, parts);
    alternatives_.resize(before);
    return found;
}

// Whether two begin with the same letter; not always right where that is no ASCII.
bool Tree::some_begin_alike(std::span<const int32_t> parts) const {
    uint64_t seen[2] = {};
    for (const int32_t part : parts) {
        const char32_t letter = nodes_[head(part)].letter;
        if (letter == no_letter) continue;
        uint64_t& these = seen[letter / 64 % 2];
        const uint64_t bit = uint64_t{1} << (letter % 64);
        if (these & bit) return true;
        these |= bit;
    }
    return false;
}

bool Tree::all_begin_alike(std::span<const int32_t> parts) const {
    const char32_t letter = nodes_[head(parts[0])].letter;
    const auto same = [&](int32_t part) { return nodes_[head(part)].letter == letter; };
    return letter != no_letter && std::all_of(parts.begin(), parts.end(), same);
}

// Alternatives that begin with the same letter share it. Their order is kept where it matters: two that begin
// with different letters never compete, so one may be moved past the other, but none past anything else.
int32_t Tree::with_heads_shared(const std::vector<int32_t>& parts) {
    struct Group {
        char32_t letter;
        size_t first;
        size_t last;
    };
    std::vector<Group> groups;
    std::vector<size_t> behind(parts.size());  // the next of the same group
    size_t movable = 0;
    for (size_t at = 0; at < parts.size(); ++at) {
        const char32_t letter = nodes_[head(parts[at])].letter;
        auto same = [letter](const Group& group) { return group.letter == letter; };
        auto found = letter == no_letter ? groups.end() : std::find_if(groups.begin() + movable, groups.end(), same);
        if (found == groups.end()) {
            groups.push_back({letter, at, at});
            if (letter == no_letter) movable = groups.size();
        } else {
            behind[found->last] = at;
            found->last = at;
        }
    }
    std::vector<int32_t> chosen, shared, rests;
    for (const Group& group : groups) {
        if (group.first == group.last) {
            chosen.push_back(parts[group.first]);
            continue;
        }
        shared.clear();
        rests.clear();
        for (size_t at = group.first; at != group.last; at = behind[at]) rests.push_back(parts[at]);
        rests.push_back(parts[group.last]);
        do {
            shared.push_back(head(rests[0]));
            for (int32_t& rest : rests) rest = without_head(rest);
        } while (all_begin_alike(rests));
        shared.push_back(choice(rests));
        chosen.push_back(sequence(shared));
    }
    return chosen.size() == 1 ? chosen[0] : joined({.kind = Node::Kind::choice}, chosen);
}

}  // namespace synthesis
