// Eight bytes at a time of what a JSON string has as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace synthesis {

constexpr ptrdiff_t plain_step = sizeof(uint64_t);

// Whether all of them are ASCII and neither control characters, quotation marks nor backslashes.
inline bool all_plain(const uint8_t (&few)[plain_step]) {
    const auto each = [](uint8_t byte) { return 0x0101010101010101ull * byte; };
    // The highest bit of a byte where one is smaller, or next to such a one.
    const auto any_below = [](uint64_t bytes, uint64_t limit) { return (bytes - limit) & ~bytes; };
    uint64_t bytes;
    std::memcpy(&bytes, few, sizeof bytes);
    const uint64_t odd = bytes | any_below(bytes, each(0x20)) | any_below(bytes ^ each('"'), each(1)) |
                         any_below(bytes ^ each('\\'), each(1));
    return (odd & each(0x80)) == 0;
}

}  // namespace synthesis
