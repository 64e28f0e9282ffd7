// A case with its verdicts, and the lines that a report has of it.
#pragma once

#include "verdict.hpp"

namespace synthesis {

struct Judgement {
    std::string_view check;  // its name, as JSON writes it
    const Verdict* verdict;
};

struct JudgedCase {
    std::string_view id;  // as JSON writes it
    bool expected_failure = false;
    std::vector<Judgement> judgements;

    bool failed() const;
    // Without its labels and the brace that ends it.
    void write_result(Json& json) const;
    void write_failure(Json& json) const;
};

}  // namespace synthesis
