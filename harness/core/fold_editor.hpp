// A text under edit, and where each of its characters stood before.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>

#include "characters.hpp"

namespace synthesis {

constexpr char32_t item = 0x1e;  // a line break before a list item, until folding is done

inline int32_t length(View text) { return static_cast<int32_t>(text.size()); }

// The character at a place; before and behind the text stands a NUL, which is in no class asked for.
inline char32_t at(View text, int32_t place) {
    return static_cast<size_t>(place) < text.size() ? text[place] : U'\0';
}

// The first place from `from` on that holds `c`, or the end of the text.
inline int32_t next(View text, int32_t from, char32_t c) {
    const char32_t* place = text.data() + from;
    const char32_t* const end = text.data() + text.size();
    for (; c < 128 && end - place >= Sixteen::size; place += Sixteen::size)
        if (const uint32_t found = Sixteen(place).are(static_cast<char>(c)).bits())
            return static_cast<int32_t>(place - text.data()) + std::countr_zero(found);
    while (place != end && *place != c) ++place;
    return static_cast<int32_t>(place - text.data());
}

// The first place from `from` on that does not hold `c`.
inline int32_t skip(View text, int32_t from, char32_t c) {
    while (at(text, from) == c) ++from;
    return from;
}

// The first place from `from` on that holds neither a space nor a line break.
inline int32_t skip_blanks(View text, int32_t from) {
    while (at(text, from) == ' ' || at(text, from) == '\n') ++from;
    return from;
}

class Editor {
public:
    Editor(Text& text, std::vector<int32_t>& places) : text_(text), places_(places) { places.clear(); }

    ~Editor() {
        if (spare().text.capacity() > most_kept) spare() = {};
    }

    Editor(const Editor&) = delete;
    Editor& operator=(const Editor&) = delete;

    View text() const { return text_; }

    // Plain characters throughout, one for one; notes which kinds there are.
    void make_plain() {
        uint16_t seen = 0, doubled = 0, last = 0;
        char32_t* at = text_.data();
        char32_t* const end = at + text_.size();
        while (at != end) {
            const ptrdiff_t size = std::min<ptrdiff_t>(Sixteen::size, end - at);
            if (size == Sixteen::size && are_plain(Sixteen(at))) {
                const uint32_t blanks = Sixteen(at).are(' ').bits(), before = blanks << 1 | (last & kind::blank);
                if (blanks) seen |= kind::blank;
                if (blanks & before) doubled |= kind::blank;
                last = blanks >> (Sixteen::size - 1);
                at += Sixteen::size;
                continue;
            }
            for (char32_t* const stop = at + size; at != stop; ++at) {
                const Character found = character(*at);
                *at ^= found.change;
                seen |= found.kinds;
                doubled |= found.kinds & last;
                last = found.kinds;
            }
        }
        seen_ = seen, doubled_ |= doubled;
    }

    // Whether a kind may be there, or two of it side by side: a hint that saves looking, never a promise.
    bool may_have(uint16_t kinds) const { return seen_ & kinds; }
    bool may_have_two(uint16_t kinds) const { return doubled_ & kinds; }

    // As `re.sub`: `find(text, from, found)` is the leftmost match from `from` on and never empty. A place
    // counts as edited even where the replacement is what stood there.
    template <typename Find>
    bool replace(Find find, View replacement) {
        Span found;
        if (!find(text(), 0, found)) return false;
        begin();
        int32_t kept = 0;
        do {
            keep(kept, found.start);
            put(found, replacement);
            kept = found.end;
        } while (find(text(), kept, found));
        finish(kept);
        return true;
    }

    // Replaces what stands before `end`, if anything.
    bool replace_start(int32_t end, View replacement) {
        if (end == 0) return false;
        begin();
        put({0, end}, replacement);
        finish(end);
        return true;
    }

    // The characters a mark is spelt out in differ, so what replaces it is asked for each.
    template <typename Find, typename Replacement>
    void replace_each(Find find, Replacement replacement) {
        Span found;
        int32_t kept = 0;
        begin();
        for (; find(text(), kept, found); kept = found.end) {
            keep(kept, found.start);
            put(found, replacement(text_[found.start]));
        }
        finish(kept);
    }

private:
    struct Spare {
        Text text;
        std::vector<int32_t> places;
    };

    static constexpr size_t most_kept = 1 << 16;

    static Spare& spare() {
        static thread_local Spare spare;
        return spare;
    }

    void begin() {
        if (places_.empty()) {
            places_.resize(text_.size() + 1);
            std::iota(places_.begin(), places_.end(), 0);
        }
        spare_.text.clear();
        spare_.places.clear();
    }

    void keep(int32_t start, int32_t end) {
        spare_.text.append(text_, start, end - start);
        spare_.places.insert(spare_.places.end(), places_.begin() + start, places_.begin() + end);
    }

    void put(Span found, View replacement) {
        spare_.text.append(replacement);
        for (int32_t inside = 0; inside < length(replacement); ++inside) {
            spare_.places.push_back(places_[std::min(found.start + inside, found.end - 1)]);
        }
    }

    void finish(int32_t kept) {
        keep(kept, length(text_));
        spare_.places.push_back(places_.back());
        std::swap(text_, spare_.text);
        std::swap(places_, spare_.places);
        doubled_ = kind::every;
    }

    Text& text_;
    std::vector<int32_t>& places_;
    Spare& spare_ = spare();
    uint16_t seen_ = 0;
    uint16_t doubled_ = 0;
};

}  // namespace synthesis
