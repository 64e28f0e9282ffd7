#include "memory.hpp"

namespace synthesis {

namespace {

constexpr size_t most_bytes = 14u << 20;
constexpr size_t bytes_of_entry = 100;  // what a sentence takes beside its text and what is found in it
constexpr size_t bytes_of_word = 80;

}  // namespace

Sentence& Memory::sentence(View text) {
    const int32_t number = texts_.number(text);
    if (number == static_cast<int32_t>(sentences_.size())) {
        grew(bytes_of_entry + sizeof(Sentence) + text.size());
        sentences_.emplace_back();
    }
    return sentences_[number];
}

int32_t Memory::word(View text) {
    const int32_t before = words();
    const int32_t number = words_.number(text);
    if (number == before) grew(bytes_of_word + text.size());
    return number;
}

bool Memory::tidy() {
    if (bytes_ <= most_bytes) return false;
    forget();
    return true;
}

void Memory::forget() {
    texts_.clear();
    sentences_.clear();
    words_.clear();
    bytes_ = 0;
}

}  // namespace synthesis
