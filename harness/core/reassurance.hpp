// Fails replies that promise outcomes nobody can promise or claim to know another mind.
#pragma once

#include "verdict.hpp"

namespace synthesis {

class ReassuranceCheck {
public:
    explicit ReassuranceCheck(Exchange& exchange)
        : verdict(exchange), exchange_(exchange), known_(exchange.knowledge.reassurance) {}

    void check();

    Verdict verdict;

private:
    void leave_out_no_claims();
    std::span<const int32_t> stated(size_t number);
    const Claim& claim_of(View text);
    bool restates(const Claim& claim) const;
    bool speaks_of_own(View before);
    // Short stems of the words of a text, each once, ascending.
    std::span<const int32_t> stems_of(View text);
    const Folded& folded(View text);
    void decide();

    Exchange& exchange_;
    const ReassuranceKnowledge& known_;
    std::vector<Hit> hits_, mind_reading_, guarantee_;
    std::vector<std::span<const int32_t>> stated_;
    std::vector<int32_t> stems_;
};

}  // namespace synthesis
