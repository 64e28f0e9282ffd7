// Rules made ready to match, in sets that are asked together.
#pragma once

#include <memory>

#include "fold.hpp"
#include "reading.hpp"

namespace synthesis {

// One place where a rule matched, in offsets of the original. Names are ranked, so that comparing two is
// comparing their numbers; `group` is a name too.
struct Hit {
    int32_t start;
    int32_t end;
    int16_t rule;
    int16_t group;
    bool by_user;
};

struct RuleText {
    int16_t rule;
    int16_t group;
    int16_t set;
    bool crosses_sentences;
    Text pattern;
    std::vector<Text> unless;
};

// Where a rule of some set matched, in offsets of its sentence.
struct Place {
    int32_t start;
    int32_t end;
    int16_t rule;
    int16_t group;
    int16_t set;
};

// By place, then by the rule's name, as every list of hits is sorted.
template <class Found>
bool comes_before(const Found& one, const Found& two) {
    if (one.start != two.start) return one.start < two.start;
    return one.end != two.end ? one.end < two.end : one.rule < two.rule;
}

inline bool operator<(const Hit& one, const Hit& two) { return comes_before(one, two); }
inline bool operator<(const Place& one, const Place& two) { return comes_before(one, two); }

class Memory;
struct Sentence;

// What all patterns of a language share.
struct Machine {
    Alphabet alphabet;
    Words words;
    size_t bytes = 0;  // of what automata have worked out
    int32_t most_hits;  // places listed per rule and text
    int32_t reach;      // characters on each side of a hit that `unless` sees
};

// A text and what is known of its sentences.
struct Searched {
    const Folded& folded;
    View view;  // `text` or `own`
    const std::vector<Sentence*>& sentences;
    Reading& reading;
    bool by_user;
};

// Several sets of rules that are searched for together. `number` says which of a sentence's results are theirs.
class RuleSets {
public:
    RuleSets(int number, const std::vector<RuleText>& rules, Machine& machine);
    ~RuleSets();

    // When the alphabet is built.
    void finish();
    // What is worked out is worked out anew.
    void forget();

    // All hits of one set in a text, sorted.
    void hits(const Searched& searched, int set, Memory& memory, std::vector<Hit>& found) const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

// A pattern by itself.
class Pattern {
public:
    Pattern(View pattern, Machine& machine);
    ~Pattern();

    // When the alphabet is built, and when what is worked out is to be worked out anew.
    void reset();

    bool search(View text) const { return last_end(text) >= 0; }
    // The end of the last match, -1 where there is none.
    int32_t last_end(View text) const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace synthesis
