// What is counted of the cases in a block: what `harness.tally.Tally` adds up.
#pragma once

#include <unordered_map>

#include "case_reader.hpp"
#include "verdict.hpp"

namespace synthesis {

constexpr int status_count = 3;

// Which checks a case had, in order, and what each of them said.
struct Outcome {
    std::array<uint8_t, check_count> checks{};
    std::array<Status, check_count> statuses{};
    uint8_t size = 0;
    bool negative = false;

    void add(uint8_t check, Status status) {
        checks[size] = check;
        statuses[size++] = status;
    }
    bool has(Status status) const;
    bool operator==(const Outcome&) const = default;
};

class BlockCounts {
public:
    // `prefix`: what the tags of slices begin with.
    BlockCounts(const std::array<std::string, check_count>& names, View prefix)
        : names_(names), slice_prefix_(prefix) {}

    void add(const CaseLine& line, const Outcome& outcome);
    // A planted row that was not caught by all its checks.
    void add_missed(std::string_view id, const Outcome& outcome) { missed_.push_back({id, outcome}); }

    // Which failures are told one by one: how many of a kind there are, and where the next one is written.
    size_t shown(bool expected) const { return shown_[expected].size(); }
    void show(bool expected, size_t start, size_t size) { shown_[expected].push_back({start, size}); }

    // See `Counts` in `_core.pyi`; `failures`: what was written of them.
    Owned told(const char* failures) const;

private:
    struct Shown {
        size_t start, size;
    };
    struct Alike {
        Outcome outcome;
        long times;
    };
    struct Slice {
        size_t last = 0;  // the case that was last counted
        long passed = 0, flagged = 0;
    };
    struct Missed {
        std::string_view id;
        Outcome outcome;
    };

    void add_labels(const CaseLine& line, const Outcome& outcome);
    void add_slices(const CaseLine& line, bool fine, bool passed);
    Owned checks_of(const Outcome& outcome) const;
    Owned shown_told(const char* failures) const;
    Owned alike_told() const;
    Owned labels_told() const;
    Owned slices_told() const;
    Owned lost_told() const;
    Owned missed_told() const;

    const std::array<std::string, check_count>& names_;
    View slice_prefix_;
    size_t cases_ = 0;
    std::vector<Shown> shown_[2];  // by whether they were expected
    std::vector<Alike> alike_;
    long labels_[check_count][label_count][status_count] = {};
    std::unordered_map<Text, Slice, Hash> slices_;
    std::vector<std::string_view> lost_;
    std::vector<Missed> missed_;
};

}  // namespace synthesis
