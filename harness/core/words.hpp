// Numbers for short words, as patterns see them: runs of ASCII letters, digits and underscores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace synthesis {

constexpr size_t longest_word = 16;

// A run of up to so many characters, a byte each.
struct WordKey {
    uint64_t first = 0;
    uint64_t second = 0;
    bool operator==(const WordKey&) const = default;
};

class Words {
public:
    // A word that is too long, or one too many.
    static constexpr int32_t any = 0;

    // The word's number, the same until `forget`.
    int32_t number(WordKey key);

    bool is_full() const { return words_ >= most; }
    void forget() { slots_.clear(), words_ = 0; }

private:
    static constexpr int32_t most = 1 << 15;
    struct Slot {
        WordKey key;
        int32_t number = 0;
    };

    std::vector<Slot> slots_;  // an open table
    int32_t words_ = 0;
};

}  // namespace synthesis
