// Which ids were used, in little memory: those that differ in their number only share words of 64 bits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace synthesis {

class Ids {
public:
    // Whether it is new.
    bool add(std::string_view id);
    // Whether all of them are new, one a line.
    bool add_lines(std::string_view ids);

private:
    // An empty one has no bits.
    struct Page {
        uint64_t key = 0;
        uint64_t bits = 0;
    };

    bool add_numbered(uint64_t prefix, uint64_t number);
    // The number of what stands before an id's number; `most_prefixes` where there are too many.
    uint64_t prefix_of(std::string_view text);
    Page& page(uint64_t key);
    void grow();

    std::unordered_map<std::string, uint64_t> prefixes_;
    std::string last_prefix_;
    uint64_t last_prefix_number_ = 0;
    std::vector<Page> pages_;  // an open table, at most three quarters full
    size_t used_ = 0;
    std::unordered_set<std::string> others_;
};

}  // namespace synthesis
