#include "alphabet.hpp"

#include <algorithm>

namespace synthesis {

namespace {

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

int32_t Alphabet::set_of(const Ranges& ranges) {
    Text key;
    for (Range each : ranges) key.append({each.first, each.last});
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    if (classes_ > 0) throw Unsupported("a pattern with characters that were not told of");
    sets_.push_back(ranges);
    return known_[key] = static_cast<int32_t>(sets_.size()) - 1;
}

int32_t Alphabet::set_of(const Tree& tree, const Node& node) {
    const char32_t letter = node.letter;
    if (letter == no_letter) return set_of(tree.set(node.set));
    if (letter >= 128) return set_of(Ranges{{letter, letter}});
    if (letters_[letter] < 0) letters_[letter] = set_of(Ranges{{letter, letter}});
    return letters_[letter];
}

void Alphabet::add(const Tree& tree) {
    for (int32_t number = 0; number < tree.size(); ++number) {
        if (tree[number].kind == Node::Kind::one_of) set_of(tree, tree[number]);
    }
}

void Alphabet::build() {
    starts_ = {0};
    auto part = [this](const Ranges& set) {
        for (Range each : set) {
            starts_.push_back(each.first);
            if (each.last < last_character) starts_.push_back(each.last + 1);
        }
    };
    for (const Ranges& set : sets_) part(set);
    part(word_set);
    part(break_set);
    std::sort(starts_.begin(), starts_.end());
    starts_.erase(std::unique(starts_.begin(), starts_.end()), starts_.end());
    number_classes();
    for (char32_t c = 0; c < 128; ++c) low_[c] = class_of_high(c);
    sets_ = {};
    for (int assertion = 0; assertion < assertions; ++assertion) {
        for (Before before : {text_start, line_start, word, other})
            holding_.push_back(worked_out(static_cast<Assertion>(assertion), before));
    }
}

void Alphabet::number_classes() {
    std::unordered_map<std::string, uint8_t> signatures;
    members_.assign(sets_.size(), {});
    auto class_with = [&](char32_t c) {
        std::string signature;
        for (const Ranges& set : sets_) signature += contains(set, c) ? '1' : '0';
        const Before kind = contains(word_set, c) ? word : contains(break_set, c) ? line_start : other;
        signature += static_cast<char>('0' + kind);
        const auto [found, fresh] = signatures.try_emplace(signature, static_cast<uint8_t>(signatures.size()));
        if (signatures.size() >= Classes::most) throw Unsupported("patterns tell too many characters apart");
        if (!fresh) return found->second;
        kinds_[found->second] = kind;
        for (size_t set = 0; set < sets_.size(); ++set) {
            if (signature[set] == '1') members_[set].add(found->second);
        }
        return found->second;
    };
    for (char c : frequent) class_with(c);
    numbers_.clear();
    for (char32_t start : starts_) numbers_.push_back(class_with(start));
    classes_ = static_cast<int>(signatures.size()) + 1;
    kinds_[end()] = other;
    for (int number = 0; number + 1 < classes_; ++number) of_kind_[kinds_[number]].add(number);
    ends_.add(end());
}

uint8_t Alphabet::class_of_high(char32_t c) const {
    return numbers_[std::upper_bound(starts_.begin(), starts_.end(), c) - starts_.begin() - 1];
}

void Alphabet::read(View text, uint8_t* classes) const {
    for (const char32_t c : text) *classes++ = class_of(c);
    *classes = end();
}

Classes Alphabet::worked_out(Assertion assertion, Before before) const {
    const Classes none;
    const Classes boundary = before == word ? ~of_kind_[word] : of_kind_[word];
    switch (assertion) {
        case Assertion::line_start: return before == text_start || before == line_start ? Classes::all() : none;
        case Assertion::text_start: return before == text_start ? Classes::all() : none;
        case Assertion::line_end: return of_kind_[line_start] | ends_;
        case Assertion::text_end: return ends_;
        case Assertion::boundary: return boundary;
        case Assertion::no_boundary: return ~boundary;
    }
    return none;
}

}  // namespace synthesis
