// Whether an order repeats what the person told, word for word.
#pragma once

#include "exchange.hpp"

namespace synthesis {

class Echo {
public:
    explicit Echo(Exchange& exchange) : exchange_(exchange), known_(exchange.knowledge.agency) {}

    // Takes in the message; false where nothing in it could be repeated.
    bool listen();
    bool repeats(const Hit& order);

private:
    std::span<const int32_t> told(size_t number);
    // The words of a clause, without apostrophes.
    void words_in(View text, std::vector<int32_t>& words);
    template <class Found>
    void each_word_in(View text, Found found);
    // The number of a run of words; nought where it is not known and not to be learnt.
    int32_t run(const int32_t* words, bool learn);

    Exchange& exchange_;
    const AgencyKnowledge& known_;
    int32_t runs_ = 0;
    Text word_;
    std::vector<int32_t> words_;
};

}  // namespace synthesis
