#include "json_string.hpp"

#include "sixteen.hpp"

namespace synthesis {

namespace {

constexpr size_t most = INT32_MAX / 8;

class StringReader {
public:
    explicit StringReader(std::string_view inside) : at_(inside.data()), end_(at_ + inside.size()) {}

    // Into room for as many characters as there are bytes, and sixteen more; gives the end.
    char32_t* read(char32_t* out) {
        while (at_ != end_) {
            const Sixteen few = next_sixteen(at_, end_);
            const int plain = plain_in_json(few);
            few.write(out);
            at_ += plain, out += plain;
            if (plain < Sixteen::size && at_ != end_) *out++ = character();
        }
        return out;
    }

private:
    uint8_t next() {
        if (at_ == end_) throw NotPlain{};
        return static_cast<uint8_t>(*at_++);
    }

    char32_t character() {
        const uint8_t first = next();
        if (first >= 0x80) return several_bytes(first);
        if (first < 0x20) throw NotPlain{};
        return first == '\\' ? escaped() : first;
    }

    char32_t several_bytes(uint8_t first) {
        if (first < 0xc0 || first > 0xf7) throw NotPlain{};
        const int more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
        char32_t c = first & (0x3f >> more);
        for (int left = more; left > 0; --left) {
            const uint8_t byte = next();
            if ((byte & 0xc0) != 0x80) throw NotPlain{};
            c = c << 6 | (byte & 0x3f);
        }
        constexpr char32_t least[] = {0, 0x80, 0x800, 0x10000};
        if (c < least[more] || c > 0x10ffff || is_surrogate(c)) throw NotPlain{};
        return c;
    }

    char32_t escaped() {
        switch (next()) {
            case '"': return '"';
            case '\\': return '\\';
            case '/': return '/';
            case 'b': return '\b';
            case 'f': return '\f';
            case 'n': return '\n';
            case 'r': return '\r';
            case 't': return '\t';
            case 'u': return by_number();
            default: throw NotPlain{};
        }
    }

    char32_t by_number() {
        const char32_t c = four_digits();
        if (!is_surrogate(c)) return c;
        if (c >= 0xdc00 || next() != '\\' || next() != 'u') throw NotPlain{};
        const char32_t low = four_digits();
        if (low < 0xdc00 || low > 0xdfff) throw NotPlain{};
        return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }

    char32_t four_digits() {
        char32_t c = 0;
        for (int left = 4; left > 0; --left) c = c << 4 | digit(next());
        return c;
    }

    static char32_t digit(uint8_t byte) {
        if (byte >= '0' && byte <= '9') return byte - '0';
        const uint8_t letter = byte | 0x20;
        if (letter < 'a' || letter > 'f') throw NotPlain{};
        return letter - 'a' + 10;
    }

    static bool is_surrogate(char32_t c) { return c >= 0xd800 && c <= 0xdfff; }

    const char* at_;
    const char* end_;
};

}  // namespace

void read_string(std::string_view inside, Text& text) {
    if (inside.size() >= most) throw NotPlain{};
    const size_t room = inside.size() + Sixteen::size;
    if (text.size() < room) text.resize(room);
    text.resize(StringReader(inside).read(text.data()) - text.data());
}

}  // namespace synthesis
