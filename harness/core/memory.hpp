// What is remembered of sentences and words: each is looked at once, however often it comes back.
#pragma once

#include <array>

#include "arena.hpp"
#include "numbered.hpp"
#include "said.hpp"
#include "shared_places.hpp"

namespace synthesis {

constexpr int searches = 2;  // for what people say, and for what is said to them

enum class Known : uint8_t { unknown, no, yes };

struct Sentence {
    std::array<bool, searches> searched{};
    std::array<Known, searches> crossed{};  // whether a rule that crosses sentences may begin with it
    std::array<std::span<const Place>, searches> places;
    Said said;
    Claim* claim = nullptr;  // see `Memory::claim`
};

class Memory {
public:
    // What is known of some sentences, parts of a text; it stays where it is until `tidy`.
    void find(View text, const std::vector<Span>& lines, std::vector<Sentence*>& found);
    Sentence& sentence(View text);
    Claim& claim(Sentence& sentence);

    // What is kept with a sentence.
    template <class Item>
    std::span<const Item> keep(const std::vector<Item>& items) {
        return arena_.keep(std::span<const Item>(items));
    }

    // From now on copies of this process tell each other where rules match.
    void share() {
        if (!shared_) shared_ = SharedPlaces::make();
    }
    // How often something was looked for in a sentence that nobody had told of.
    size_t searched() const { return searched_; }
    // What another has told of a sentence; false where nobody has.
    bool is_told(const Sentence& sentence, int search, std::vector<Place>& places) const {
        return shared_ && shared_->find(key_of(sentence), search, places);
    }
    // What was found in one.
    void tell(const Sentence& sentence, int search, const std::vector<Place>& places) {
        ++searched_;
        if (shared_) shared_->tell(key_of(sentence), search, places);
    }

    // The number of a word or stem, the same until `tidy`.
    int32_t word(View text);
    Text word_text(int32_t number) const { return words_.text(number); }
    int32_t words() const { return words_.size(); }

    // Between two turns, where it has become too much: forgets the sentences that did not come back, or else
    // everything; says whether it did the latter.
    bool tidy();
    void forget();

private:
    // A sentence and its text, which stands behind it.
    struct Entry {
        Sentence sentence;
        uint32_t size;
        bool came_back = false;  // since the last time that some were forgotten

        std::string_view key() const { return {reinterpret_cast<const char*>(this + 1), size}; }
    };
    struct Slot {
        uint64_t hash = 0;
        Entry* entry = nullptr;
    };
    struct Sought {
        size_t start;
        size_t size;
        uint64_t hash;
    };

    // Of one that was found here, and so is the first part of an entry.
    static std::string_view key_of(const Sentence& sentence) {
        return reinterpret_cast<const Entry*>(&sentence)->key();
    }
    void find(View text, const Span* first, const Span* last, std::vector<Sentence*>& found);
    void clear_packed();
    Sentence& sentence(std::string_view key, uint64_t hash);
    Slot& slot_of(std::string_view key, uint64_t hash);
    void grow();
    size_t bytes() const { return arena_.bytes() + slots_.size() * sizeof(Slot) + word_bytes_; }
    static Entry* new_entry(Arena& arena, const Sentence& sentence, std::string_view key);
    void forget_the_rest();
    static Sentence copied(const Sentence& sentence, Arena& arena);

    Arena arena_;
    std::vector<Slot> slots_;  // an open table
    size_t sentences_ = 0;
    size_t searched_ = 0;
    Numbered words_;
    size_t word_bytes_ = 0;
    std::unique_ptr<SharedPlaces> shared_;
    // While sentences are looked up:
    std::string packed_;
    std::vector<Sought> sought_;
};

}  // namespace synthesis
