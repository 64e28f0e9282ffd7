#include "echo.hpp"

namespace synthesis {

namespace {

constexpr char32_t dotted_capital_i = 0x130;
constexpr int32_t root = INT32_MAX;  // what a run begins from; no word has this number

bool ends_clause(char32_t c) {
    switch (c) {
        case U',': case U';': case U':': case U'.': case U'!': case U'?': case U'\n': return true;
        default: return c == U'\u2013' || c == U'\u2014';
    }
}

// Up to a comma or another mark that ends a clause.
View clause_of(View text) {
    constexpr View around = U" ,;:-";
    const size_t first = text.find_first_not_of(around);
    if (first == View::npos) return {};
    text = text.substr(first, text.find_last_not_of(around) - first + 1);
    size_t end = 0;
    while (end < text.size() && !ends_clause(text[end]) && text.substr(end, 3) != U" - ") ++end;
    return text.substr(0, end);
}

}  // namespace

bool Echo::listen() {
    size_t words = 0;
    const size_t lines = exchange_.user.lines.size();
    for (size_t number = 0; number < lines; ++number) words += told(number).size();
    exchange_.pairs.clear(words * known_.echo);
    runs_ = 0;
    for (size_t number = 0; number < lines; ++number) {
        const std::span<const int32_t> said = told(number);
        for (size_t at = 0; at + known_.echo <= said.size(); ++at) run(&said[at], true);
    }
    return runs_ > 0;
}

// The words of a sentence that neither asks nor passes on what to do.
std::span<const int32_t> Echo::told(size_t number) {
    Claim& claim = exchange_.user_claim(number);
    if (claim.told_known) return claim.told;
    const View text = exchange_.user.line(number);
    words_in(text, words_);
    bool passes_on = text.ends_with(U'?');
    for (const int32_t word : words_)
        if (exchange_.vocabulary.word(word).marks & mark::passed_on) passes_on = true;
    if (!passes_on) claim.told = exchange_.memory.keep(words_);
    claim.told_known = true;
    return claim.told;
}

bool Echo::repeats(const Hit& order) {
    const View original = exchange_.reply.original;
    const View clause = clause_of(original.substr(order.start, order.end + known_.clause - order.start));
    const auto echo = static_cast<size_t>(known_.echo);
    // Most clauses begin with words that were never said side by side: the rest is not read.
    bool told = true;
    words_.clear();
    each_word_in(clause, [&](View word) {
        words_.push_back(exchange_.memory.word(word));
        told = words_.size() < echo || run(&words_[words_.size() - echo], false) != 0;
        return told;
    });
    return told && words_.size() >= echo;
}

void Echo::words_in(View text, std::vector<int32_t>& words) {
    words.clear();
    each_word_in(text, [&](View word) {
        words.push_back(exchange_.memory.word(word));
        return true;
    });
}

// Calls `found` for each word until that says no.
template <class Found>
void Echo::each_word_in(View text, Found found) {
    word_.clear();
    bool goes_on = true;
    auto end = [&] {
        if (!word_.empty()) goes_on = found(word_);
        word_.clear();
    };
    for (const char32_t c : text) {
        if (c == U'\'' || c == U'\u2019') continue;
        // In lower case; of all characters only this one becomes two, and the second is no letter.
        const char32_t lower = c < 128 ? Py_TOLOWER(c) : Py_UNICODE_TOLOWER(c);
        if (is_alnum(lower)) word_.push_back(lower);
        if (!is_alnum(lower) || c == dotted_capital_i) end();
        if (!goes_on) return;
    }
    end();
}

int32_t Echo::run(const int32_t* words, bool learn) {
    Pairs& pairs = exchange_.pairs;
    int32_t before = root;
    for (int32_t at = 0; at < known_.echo; ++at) {
        const uint64_t key = Pairs::key(before, words[at]);
        if (learn) {
            Pairs::Slot& slot = pairs.at(key);
            if (slot.one == 0) slot.one = -1 - ++runs_;
            before = slot.one;
        } else {
            const Pairs::Slot* slot = pairs.find(key);
            if (slot == nullptr) return 0;
            before = slot->one;
        }
    }
    return before;
}

}  // namespace synthesis
