#include "ids.hpp"

#include <algorithm>

namespace synthesis {

namespace {

constexpr size_t most_digits = 16;  // such a number is below 2 ** 54, and its page below 2 ** 48
constexpr uint64_t most_prefixes = 1 << 16;
constexpr int prefix_shift = 48;
constexpr uint64_t page_size = 64;
constexpr size_t first_pages = 256;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Where the number at the end of an id begins: zeros before it are not part of it, so that it and what
// stands before it are the id.
size_t number_start(std::string_view id) {
    size_t start = id.size();
    while (start > 0 && is_digit(id[start - 1])) --start;
    while (start + 1 < id.size() && id[start] == '0') ++start;
    return start;
}

// Both the prefix, which is in the highest bits, and the number must tell.
size_t slot_of(uint64_t key, size_t slots) {
    key = (key ^ key >> 32) * 0x9e3779b97f4a7c15ull;
    return (key >> 32) & (slots - 1);
}

}  // namespace

bool Ids::add(std::string_view id) {
    const size_t start = number_start(id);
    const std::string_view digits = id.substr(start);
    if (!digits.empty() && digits.size() <= most_digits) {
        const uint64_t prefix = prefix_of(id.substr(0, start));
        uint64_t number = 0;
        for (const char digit : digits) number = 10 * number + (digit - '0');
        if (prefix < most_prefixes) return add_numbered(prefix, number);
    }
    return others_.emplace(id).second;
}

bool Ids::add_lines(std::string_view ids) {
    while (!ids.empty()) {
        const size_t end = std::min(ids.find('\n'), ids.size());
        if (!add(ids.substr(0, end))) return false;
        ids.remove_prefix(std::min(end + 1, ids.size()));
    }
    return true;
}

bool Ids::add_numbered(uint64_t prefix, uint64_t number) {
    if (4 * (used_ + 1) > 3 * pages_.size()) grow();
    const uint64_t key = prefix << prefix_shift | number / page_size;
    const uint64_t bit = 1ull << number % page_size;
    Page& found = page(key);
    if (found.bits & bit) return false;
    if (found.bits == 0) ++used_;
    found.key = key;
    found.bits |= bit;
    return true;
}

uint64_t Ids::prefix_of(std::string_view text) {
    if (text == last_prefix_ && !prefixes_.empty()) return last_prefix_number_;
    last_prefix_ = text;
    const uint64_t next = prefixes_.size();
    if (next < most_prefixes) prefixes_.try_emplace(last_prefix_, next);
    const auto found = prefixes_.find(last_prefix_);
    return last_prefix_number_ = found == prefixes_.end() ? most_prefixes : found->second;
}

Ids::Page& Ids::page(uint64_t key) {
    size_t slot = slot_of(key, pages_.size());
    while (pages_[slot].bits && pages_[slot].key != key) slot = (slot + 1) & (pages_.size() - 1);
    return pages_[slot];
}

void Ids::grow() {
    std::vector<Page> fewer(std::max(first_pages, 2 * pages_.size()));
    fewer.swap(pages_);
    for (const Page& each : fewer)
        if (each.bits) page(each.key) = each;
}

}  // namespace synthesis
