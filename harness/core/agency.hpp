// Fails replies that take the choice away from the person; passes those that leave it with them.
#pragma once

#include "echo.hpp"
#include "verdict.hpp"

namespace synthesis {

class AgencyCheck {
public:
    explicit AgencyCheck(Exchange& exchange)
        : verdict(exchange), exchange_(exchange), known_(exchange.knowledge.agency), echo_(exchange) {}

    void check();

    Verdict verdict;

private:
    using Hits = std::vector<Hit>;

    void search();
    int32_t sentence_of(const Hit& hit) const;
    void leave_out_other_topics();
    void leave_out_other_moves();
    void leave_out_echoes();
    void leave_out_optional_items();
    bool offered_as_optional(int32_t lead_in) const;
    void keep_apart_from_safety(Hits& kept);
    void weigh_orders();
    void decide();
    void give_reason(int32_t left, int32_t taken);

    Exchange& exchange_;
    const AgencyKnowledge& known_;
    Echo echo_;
    Hits hits_, positive_, negative_, kept_, safe_;
    std::vector<int32_t> starts_;      // where each sentence begins in the original
    std::vector<int32_t> tie_starts_;  // where each that has words does
    std::vector<int16_t> asked_;
};

}  // namespace synthesis
