#include "pattern.hpp"

#include <algorithm>

namespace synthesis {

int32_t Tree::add(Node node) {
    nodes_.push_back(std::move(node));
    return static_cast<int32_t>(nodes_.size()) - 1;
}

bool Tree::may_be_empty(int32_t number) const {
    const Node& node = nodes_[number];
    auto empty = [this](int32_t part) { return may_be_empty(part); };
    switch (node.kind) {
        case Node::Kind::one_of: return false;
        case Node::Kind::sequence: return std::all_of(node.parts.begin(), node.parts.end(), empty);
        case Node::Kind::choice: return std::any_of(node.parts.begin(), node.parts.end(), empty);
        case Node::Kind::repeat: return node.least == 0 || empty(node.parts[0]);
        default: return true;
    }
}

// Sequences are kept flat: none of their parts is a sequence.
int32_t Tree::sequence(std::vector<int32_t> parts) {
    std::vector<int32_t> flat;
    for (int32_t part : parts) {
        if (nodes_[part].kind == Node::Kind::sequence) {
            flat.insert(flat.end(), nodes_[part].parts.begin(), nodes_[part].parts.end());
        } else if (nodes_[part].kind != Node::Kind::empty) {
            flat.push_back(part);
        }
    }
    if (flat.empty()) return 0;
    if (flat.size() == 1) return flat[0];
    Node node{.kind = Node::Kind::sequence};
    node.parts = std::move(flat);
    return add(std::move(node));
}

int32_t Tree::head(int32_t number) const {
    const Node& node = nodes_[number];
    return node.kind == Node::Kind::sequence ? node.parts[0] : number;
}

int32_t Tree::without_head(int32_t number) {
    if (nodes_[number].kind != Node::Kind::sequence) return 0;
    const std::vector<int32_t>& parts = nodes_[number].parts;
    return sequence(std::vector<int32_t>(parts.begin() + 1, parts.end()));
}

// Alternatives that begin with the same letter share it. Their order is kept where it matters: two that begin
// with different letters never compete, so one may be moved past the other, but none past anything else.
int32_t Tree::choice(std::vector<int32_t> given) {
    if (given.size() == 1) return given[0];
    std::vector<int32_t> parts;
    for (int32_t part : given) {
        if (nodes_[part].kind != Node::Kind::choice) parts.push_back(part);
        else parts.insert(parts.end(), nodes_[part].parts.begin(), nodes_[part].parts.end());
    }
    std::vector<std::vector<int32_t>> groups;
    size_t movable = 0;
    for (int32_t part : parts) {
        const char32_t letter = nodes_[head(part)].letter;
        if (letter == no_letter) {
            groups.push_back({part});
            movable = groups.size();
            continue;
        }
        auto same = [&](const std::vector<int32_t>& group) { return nodes_[head(group[0])].letter == letter; };
        auto found = std::find_if(groups.begin() + movable, groups.end(), same);
        if (found == groups.end()) groups.push_back({part});
        else found->push_back(part);
    }
    Node node{.kind = Node::Kind::choice};
    for (const std::vector<int32_t>& group : groups) {
        if (group.size() == 1) {
            node.parts.push_back(group[0]);
            continue;
        }
        std::vector<int32_t> rests;
        for (int32_t part : group) rests.push_back(without_head(part));
        int32_t first = head(group[0]);
        int32_t rest = choice(std::move(rests));
        node.parts.push_back(sequence({first, rest}));
    }
    return node.parts.size() == 1 ? node.parts[0] : add(std::move(node));
}

}  // namespace synthesis
