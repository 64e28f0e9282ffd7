// Python's `bisect_right`, step for step, so that even a list out of order gives the same answer.
#pragma once

#include <cstdint>
#include <vector>

namespace synthesis {

// `at(number)` is an item of the list.
template <class At>
int32_t bisect_right(int32_t size, int32_t value, At at) {
    int32_t low = 0, high = size;
    while (low < high) {
        const int32_t middle = (low + high) / 2;
        if (value < at(middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

inline int32_t bisect_right(const std::vector<int32_t>& list, int32_t value) {
    return bisect_right(static_cast<int32_t>(list.size()), value, [&](int32_t at) { return list[at]; });
}

}  // namespace synthesis
