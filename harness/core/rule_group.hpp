// Rules that are searched for in one go. Most are ruled out by the word at a place and the next; only what is
// left is followed rule by rule.
#pragma once

#include <memory>
#include <unordered_map>

#include "attempts.hpp"
#include "fronts.hpp"
#include "rules.hpp"

namespace synthesis {

// The steps a text may take; one that needs more is better off with RE2.
class Steps {
public:
    explicit Steps(View text);
    void check() const {
        if (taken > most_) throw TooMuch();
    }

    int64_t taken = 0;

private:
    int64_t most_;
};

// At most `Patterns::most` rules.
class RuleGroup {
public:
    RuleGroup(const RuleText* begin, const RuleText* end, Machine& machine);

    bool has(int set) const;

    // When the alphabet is built.
    void finish();
    // When there is too much in memory: what is worked out is worked out anew.
    void forget();

    // Adds the places in a sentence where a rule matches and nothing around it cancels it, in any order.
    void search(const ReadLine& line, Steps& steps, std::vector<Place>& places);
    // The same for a text of several sentences, whose runs need not be read.
    void search_across(const ReadLine& line, Steps& steps, std::vector<Place>& places);
    // Whether a match may begin with this sentence, of which the break or end behind it is a part.
    bool may_begin_with(const std::vector<uint8_t>& classes);

private:
    // Some of the patterns that cancel a rule, and which of them may begin with a character, by what is before it,
    // and go on with another.
    struct GuardStarts {
        static constexpr size_t most = 64;

        explicit GuardStarts(int classes);
        void add(Automaton* automaton);
        uint64_t beginning(Before before, const uint8_t* place) const {
            return firsts[before][place[0]] & seconds[place[1]];
        }

        std::vector<Automaton*> automata{};
        std::array<std::vector<uint64_t>, befores> firsts;
        std::vector<uint64_t> seconds;
    };
    struct Rule {
        int16_t rule;
        int16_t group;
        int16_t set;
        std::vector<int32_t> guards;
        std::unique_ptr<Automaton> automaton;
        int32_t end = 0;  // of the last match in this sentence
        int32_t count = 0;
        std::vector<uint8_t> marked{};  // the last hit with what is around it, and what came of it
        bool cancelled = false;
        std::vector<GuardStarts> guard_starts{};
    };
    struct Guard {
        Text pattern;
        std::unique_ptr<Automaton> automaton;  // made when it is first asked
    };

    // A place where rules may match, and how far they were followed together.
    struct Beginning {
        Span done;
        int32_t front;
        Before before;
        int8_t words;  // that they may still be followed through
        const Run* run;
        Patterns candidates;
    };

    int32_t guard(const Text& pattern);
    void begin(const ReadLine& line, Steps& steps, std::vector<Place>& places);
    void begin_at_mark(int32_t at, const Run* run, Before before);
    void begin_at_word(const Run* run, Before before);
    bool goes_on(const Beginning& beginning) const;
    void expect(const Beginning& beginning) const;
    void decide();
    void try_at(int32_t at, Before before);
    void try_at(int32_t at, Before before, int pattern);
    bool is_free(int number, int32_t at);
    void take(int number, Span hit);
    bool is_cancelled(Rule& rule, Span hit);
    bool is_guarded(Rule& rule);
    const std::vector<GuardStarts>& starts_of(Rule& rule);
    Automaton* automaton_of(Guard& guard);
    void mark(Span hit);

    Machine& machine_;
    std::vector<Rule> rules_;
    std::vector<Guard> guards_;
    std::unordered_map<Text, int32_t, Hash> guard_numbers_;
    std::array<std::vector<Patterns>, befores> starts_;  // by what stands before and the first character's class
    std::vector<Patterns> seconds_;                      // by the class of the second character
    bool inside_ = false;                                // whether a match may begin within a word
    bool only_lines_ = true;                             // whether all begin where a line does, or the text
    Fronts fronts_;
    // While a sentence is searched:
    const ReadLine* line_ = nullptr;
    Steps* steps_ = nullptr;
    std::vector<Place>* places_ = nullptr;
    Patterns begun_;  // the rules whose `end` and `count` are of this sentence
    std::vector<uint8_t> marked_;
    std::vector<Beginning> beginnings_;
    Attempts attempts_, guarding_;
};

}  // namespace synthesis
