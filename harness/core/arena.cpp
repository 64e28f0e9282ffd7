#include "arena.hpp"

#include <algorithm>

namespace synthesis {

std::byte* Arena::take(size_t size) {
    size = (size + alignment - 1) & ~(alignment - 1);
    if (size > left_) {
        left_ = std::max(block, size);
        bytes_ += left_;
        blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(left_));
        free_ = blocks_.back().get();
    }
    std::byte* const place = free_;
    free_ += size;
    left_ -= size;
    return place;
}

}  // namespace synthesis
