#include "reading.hpp"

namespace synthesis {

namespace {

constexpr size_t large = 1 << 16;  // what one endless text needs is not kept

template <class Item>
void empty(std::vector<Item>& items) {
    if (items.capacity() > large) items = {};
    items.clear();
}

}  // namespace

void Reading::begin(size_t lines) {
    empty(places_);
    empty(classes_);
    empty(runs_);
    places_.resize(lines);
}

ReadLine Reading::line(size_t number, View text, const Alphabet& alphabet, Words& words) {
    Place& place = places_[number];
    if (place.classes < 0) {
        place.classes = static_cast<int32_t>(classes_.size());
        place.first_run = static_cast<int32_t>(runs_.size());
        read(text, alphabet, words);
        place.last_run = static_cast<int32_t>(runs_.size());
    }
    return {classes_.data() + place.classes, static_cast<int32_t>(text.size()), runs_.data() + place.first_run,
            runs_.data() + place.last_run};
}

void Reading::read(View text, const Alphabet& alphabet, Words& words) {
    const size_t before = classes_.size();
    classes_.resize(before + text.size() + 1);
    uint8_t* const classes = classes_.data() + before;
    const auto size = static_cast<int32_t>(text.size());
    alphabet.read(text, classes);
    for (int32_t at = 0; at < size; ++at) {
        if (!alphabet.is_word(classes[at])) continue;
        const int32_t start = at;
        uint64_t parts[2] = {0, 0};
        for (; alphabet.is_word(classes[at]); ++at) {
            const auto place = static_cast<size_t>(at - start);
            if (place < longest_word) parts[place / 8] |= static_cast<uint64_t>(text[at]) << (place % 8 * 8);
        }
        const bool known = static_cast<size_t>(at - start) <= longest_word;
        runs_.push_back({start, at, known ? words.number({parts[0], parts[1]}) : Words::any});
    }
}

}  // namespace synthesis
