// Fails replies that leave what the person disclosed: another subject, a generic list, a curt exit.
#pragma once

#include "verdict.hpp"

namespace synthesis {

class PivotCheck {
public:
    explicit PivotCheck(Exchange& exchange)
        : verdict(exchange), exchange_(exchange), known_(exchange.knowledge.pivot) {}

    void check(double threshold);

    Verdict verdict;

private:
    struct Decision {
        std::string_view name;
        bool passed;
    };

    void does_not_apply();
    void find_acknowledgements();
    void find_follow_ups();
    void find_pivots();
    void keep_those_that_leave();
    void find_generic_list();
    void find_drift();
    template <class Wanted>
    void add_ties(std::vector<Hit>& hits, int16_t rule, int16_t group, size_t from, size_t to, Wanted wanted);
    Decision decide(double similarity, double threshold) const;
    void write(const Decision& decision, double similarity);
    View anchor() const;

    Exchange& exchange_;
    const PivotKnowledge& known_;
    std::vector<Hit> hits_, acknowledged_, followed_, pivoted_;
    std::vector<int32_t> ends_;   // of the sentences, in the original
    std::vector<int32_t> rests_;  // the balance of each sentence and all that come after it
};

}  // namespace synthesis
