// Rules made ready to match, in sets that are asked together.
#pragma once

#include <memory>

#include "fold.hpp"

namespace synthesis {

constexpr int32_t most_hits = 1000;  // places listed per rule and text

// One place where a rule matched, in offsets of the original. Names are ranked, so that comparing two is
// comparing their numbers; `group` is a name too.
struct Hit {
    int32_t start;
    int32_t end;
    int16_t rule;
    int16_t group;
    bool by_user;
};

// By place, then by the rule's name, as every list of hits is sorted.
inline bool operator<(const Hit& one, const Hit& two) {
    if (one.start != two.start) return one.start < two.start;
    return one.end != two.end ? one.end < two.end : one.rule < two.rule;
}

struct RuleText {
    int16_t rule;
    int16_t group;
    bool crosses_sentences;
    Text pattern;
    std::vector<Text> unless;
};

class Memory;
struct Sentence;

// Some rules of a lexicon, asked together. `number` says which of a sentence's results are its own.
class RuleSet {
public:
    RuleSet(int number, const std::vector<RuleText>& rules);
    ~RuleSet();

    // All hits in a view (`text` or `own`) of the folded text, sorted. `sentences` is what is known of its lines.
    void hits(const Folded& folded, View view, const std::vector<Sentence*>& sentences, bool by_user,
              Memory& memory, std::vector<Hit>& found) const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

// A pattern by itself.
class Pattern {
public:
    explicit Pattern(View pattern);
    ~Pattern();

    bool search(View text) const;
    // The end of the last match, -1 where there is none.
    int32_t last_end(View text) const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace synthesis
