#include "memory.hpp"

#include <algorithm>
#include <new>

#include "prefetch.hpp"

namespace synthesis {

namespace {

constexpr size_t most_bytes = 14u << 20;
constexpr size_t bytes_of_word = 160;  // what it takes here and in a vocabulary, beside its text
constexpr size_t line = 64;            // bytes that memory gives at once
constexpr size_t large = 1 << 16;
constexpr ptrdiff_t together = 64;

}  // namespace

void Memory::find(View text, const std::vector<Span>& lines, std::vector<Sentence*>& found) {
    found.clear();
    const Span* const end = lines.data() + lines.size();
    for (const Span* first = lines.data(); first != end;) {
        const Span* const last = first + std::min<ptrdiff_t>(end - first, together);
        find(text, first, last, found);
        first = last;
    }
}

// Most of the time goes by in waiting for memory: first for the table, then for the entries, then for what they
// refer to.
void Memory::find(View text, const Span* first, const Span* last, std::vector<Sentence*>& found) {
    clear_packed();
    sought_.clear();
    if (slots_.empty()) grow();
    for (; first != last; ++first) {
        const size_t start = packed_.size();
        pack(text.substr(first->start, first->end - first->start), packed_);
        const size_t size = packed_.size() - start;
        const uint64_t hash = hash_of(std::string_view(packed_).substr(start));
        prefetch(&slots_[hash & (slots_.size() - 1)]);
        sought_.push_back({start, size, hash});
    }
    for (const Sought& each : sought_) {
        const auto* const entry = reinterpret_cast<const char*>(slots_[each.hash & (slots_.size() - 1)].entry);
        if (entry == nullptr) continue;
        for (size_t at = 0; at < sizeof(Entry) + line; at += line) prefetch(entry + at);
    }
    for (const Sought& each : sought_) {
        Sentence& sentence = this->sentence(std::string_view(packed_).substr(each.start, each.size), each.hash);
        for (const auto& places : sentence.places) prefetch(places.data());
        prefetch(sentence.said.words.data());
        prefetch(sentence.said.stems.data());
        found.push_back(&sentence);
    }
}

// What an endless sentence needed is given back.
void Memory::clear_packed() {
    if (packed_.capacity() > large) std::string().swap(packed_);
    packed_.clear();
}

Sentence& Memory::sentence(View text) {
    clear_packed();
    pack(text, packed_);
    return sentence(packed_, hash_of(std::string_view(packed_)));
}

Sentence& Memory::sentence(std::string_view key, uint64_t hash) {
    if (2 * (sentences_ + 1) > slots_.size()) grow();
    Slot& slot = slot_of(key, hash);
    if (slot.entry == nullptr) {
        slot = {hash, new_entry(arena_, {}, key)};
        ++sentences_;
    } else {
        slot.entry->came_back = true;
    }
    return slot.entry->sentence;
}

Memory::Entry* Memory::new_entry(Arena& arena, const Sentence& sentence, std::string_view key) {
    auto* const entry = new (arena.take(sizeof(Entry) + key.size())) Entry{sentence, static_cast<uint32_t>(key.size())};
    std::copy(key.begin(), key.end(), reinterpret_cast<char*>(entry + 1));
    return entry;
}

// Where a sentence is, or would be.
Memory::Slot& Memory::slot_of(std::string_view key, uint64_t hash) {
    size_t slot = hash & (slots_.size() - 1);
    for (; slots_[slot].entry != nullptr; slot = (slot + 1) & (slots_.size() - 1))
        if (slots_[slot].hash == hash && slots_[slot].entry->key() == key) break;
    return slots_[slot];
}

void Memory::grow() {
    std::vector<Slot> fewer(slots_.empty() ? 1024 : 2 * slots_.size());
    fewer.swap(slots_);
    for (const Slot& each : fewer) {
        if (each.entry == nullptr) continue;
        size_t slot = each.hash & (slots_.size() - 1);
        while (slots_[slot].entry != nullptr) slot = (slot + 1) & (slots_.size() - 1);
        slots_[slot] = each;
    }
}

Claim& Memory::claim(Sentence& sentence) {
    if (sentence.claim == nullptr) sentence.claim = new (arena_.take(sizeof(Claim))) Claim;
    return *sentence.claim;
}

int32_t Memory::word(View text) {
    const int32_t before = words();
    const int32_t number = words_.number(text);
    if (number == before) word_bytes_ += bytes_of_word + text.size();
    return number;
}

bool Memory::tidy() {
    if (bytes() <= most_bytes) return false;
    forget_the_rest();
    if (bytes() <= most_bytes / 2) return false;
    forget();
    return true;
}

// Keeps the sentences that came back; they have to come back again to be kept the next time.
void Memory::forget_the_rest() {
    Arena kept;
    std::vector<Slot> before;
    before.swap(slots_);
    sentences_ = 0;
    for (const Slot& each : before) {
        if (each.entry == nullptr || !each.entry->came_back) continue;
        if (2 * (sentences_ + 1) > slots_.size()) grow();
        const std::string_view key = each.entry->key();
        slot_of(key, each.hash) = {each.hash, new_entry(kept, copied(each.entry->sentence, kept), key)};
        ++sentences_;
    }
    arena_ = std::move(kept);
}

Sentence Memory::copied(const Sentence& sentence, Arena& arena) {
    Sentence found = sentence;
    for (auto& places : found.places) places = arena.keep(places);
    found.said.words = arena.keep(found.said.words);
    found.said.stems = arena.keep(found.said.stems);
    found.said.numbers = arena.keep(found.said.numbers);
    found.said.clauses = arena.keep(found.said.clauses);
    found.claim = nullptr;
    return found;
}

void Memory::forget() {
    arena_.clear();
    slots_ = {};
    sentences_ = 0;
    words_.clear();
    word_bytes_ = 0;
}

}  // namespace synthesis
