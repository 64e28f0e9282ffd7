// Texts as bytes, to be compared and looked up.
#pragma once

#include "sixteen.hpp"
#include "text.hpp"

namespace synthesis {

// Adds a byte for each character where all are below 0xff, else four, and one more that says which.
inline void pack(View text, std::string& packed) {
    const size_t before = packed.size();
    packed.resize(before + text.size() + 1);
    char* place = packed.data() + before;
    const char32_t* at = text.data();
    const char32_t* const end = at + text.size();
    uint32_t wide = 0;
    for (; end - at >= Sixteen::size; at += Sixteen::size, place += Sixteen::size) {
        const Sixteen few(at);
        few.write(place);
        wide |= few.are('\xff').bits();
    }
    for (; at != end; ++at) {
        wide |= *at >= 0xff;
        *place++ = static_cast<char>(*at);
    }
    *place = '\1';
    if (!wide) return;
    packed.resize(before);
    packed.append(reinterpret_cast<const char*>(text.data()), 4 * text.size());
    packed += '\4';
}

inline Text unpacked(std::string_view packed) {
    if (packed.back() == '\4') {
        Text text(packed.size() / 4, 0);
        std::memcpy(text.data(), packed.data(), packed.size() - 1);
        return text;
    }
    Text text;
    for (size_t at = 0; at + 1 < packed.size(); ++at) text += static_cast<unsigned char>(packed[at]);
    return text;
}

}  // namespace synthesis
