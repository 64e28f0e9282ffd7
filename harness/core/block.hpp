// Whole lines of a case file, read, checked, written and counted without Python.
#pragma once

#include "block_counts.hpp"
#include "checks.hpp"

namespace synthesis {

struct BlockOptions {
    double threshold;
    size_t shown;  // failures of each kind that are told one by one
    bool planted;
};

class BlockCheck {
public:
    // `cases`: what the tags of a case mean.
    BlockCheck(Checks& checks, const Description& cases);

    // See `_core.pyi`. Throws `NotPlain` or `TooMuch` where Python has to look at the lines.
    PyObject* check(std::string_view content, const BlockOptions& options);

private:
    void check_line(std::string_view line, const BlockOptions& options, BlockCounts& counts);
    void judge(const CaseLine& line, double threshold);
    void write(const CaseLine& line);
    void write_failure(size_t shown, BlockCounts& counts);
    void write_labels(const CaseLine& line);
    bool is_negative(const std::vector<Text>& tags) const;

    Checks& checks_;
    CaseReader reader_;
    Text negative_, negative_ending_, slice_prefix_;
    JudgedCase case_;
    Outcome outcome_;
    Json results_, failures_, ids_;
};

}  // namespace synthesis
