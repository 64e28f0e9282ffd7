#include "pattern.hpp"

#include <algorithm>
#include <array>

namespace synthesis {

namespace {

const Ranges digits{{'0', '9'}};
const Ranges word_characters{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
const Ranges blanks{{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
constexpr int32_t most_repeats = 1000;  // RE2's own limit

Ranges tidied(Ranges ranges) {
    std::sort(ranges.begin(), ranges.end(), [](Range a, Range b) { return a.first < b.first; });
    Ranges tidy;
    for (Range each : ranges) {
        if (!tidy.empty() && each.first <= tidy.back().last + 1) {
            tidy.back().last = std::max(tidy.back().last, each.last);
        } else {
            tidy.push_back(each);
        }
    }
    return tidy;
}

Ranges all_but(const Ranges& ranges) {
    Ranges others;
    char32_t next = 0;
    for (Range each : ranges) {
        if (each.first > next) others.push_back({next, each.first - 1});
        next = each.last + 1;
    }
    if (next <= last_character) others.push_back({next, last_character});
    return others;
}

}  // namespace

class Reader {
public:
    Reader(Tree& tree, View pattern) : tree_(tree), pattern_(pattern) {}

    int32_t read() {
        int32_t root = choice();
        if (at_ < pattern_.size()) refuse();
        return root;
    }

private:
    struct Flags {
        bool lines = false;
        bool breaks = false;  // whether `.` is also a line break
    };

    [[noreturn]] void refuse() const {
        throw Unsupported("the compiled core does not know this in a pattern, at character " +
                          std::to_string(at_));
    }

    bool more() const { return at_ < pattern_.size(); }
    char32_t peek() const { return more() ? pattern_[at_] : 0; }

    char32_t take() {
        if (!more()) refuse();
        return pattern_[at_++];
    }

    bool accept(char32_t expected) {
        if (!more() || pattern_[at_] != expected) return false;
        ++at_;
        return true;
    }

    int32_t choice() {
        const size_t before = open_.size();
        do open_.push_back(sequence());
        while (accept('|'));
        return closed(before, tree_.choice(opened(before)));
    }

    int32_t sequence() {
        const size_t before = open_.size();
        while (more() && peek() != '|' && peek() != ')') open_.push_back(repeated(piece()));
        return closed(before, tree_.sequence(opened(before)));
    }

    std::span<const int32_t> opened(size_t before) const { return std::span(open_).subspan(before); }

    int32_t closed(size_t before, int32_t node) {
        open_.resize(before);
        return node;
    }

    int32_t repeated(int32_t part) {
        int32_t least, most;
        if (accept('?')) {
            least = 0, most = 1;
        } else if (accept('*')) {
            least = 0, most = -1;
        } else if (accept('+')) {
            least = 1, most = -1;
        } else if (!bounds(least, most)) {
            return part;
        }
        bool lazy = accept('?');
        if (more() && (peek() == '*' || peek() == '+' || peek() == '?')) refuse();
        if (most < 0 && tree_.may_be_empty(part)) refuse();
        const Node node{.kind = Node::Kind::repeat, .lazy = lazy, .least = least, .most = most};
        return repeated_again(tree_.joined(node, {&part, 1}));
    }

    // RE2 takes one repetition behind another only in braces, which no lexicon has.
    int32_t repeated_again(int32_t part) {
        int32_t least, most;
        if (bounds(least, most)) refuse();
        return part;
    }

    bool bounds(int32_t& least, int32_t& most) {
        size_t before = at_;
        if (!accept('{')) return false;
        if (number(least)) {
            most = least;
            if (accept(',')) {
                if (!number(most)) most = -1;
            }
            if (accept('}')) {
                if (least > most_repeats || most > most_repeats || (most >= 0 && most < least)) refuse();
                return true;
            }
        }
        at_ = before;
        return false;
    }

    bool number(int32_t& value) {
        if (!is_figure(peek())) return false;
        for (value = 0; is_figure(peek()) && value <= most_repeats;) value = 10 * value + (take() - '0');
        return true;
    }

    static bool is_figure(char32_t c) { return c >= '0' && c <= '9'; }

    // The same node wherever it stands.
    int32_t letter(char32_t c) {
        const Node node{.kind = Node::Kind::one_of, .letter = c};
        if (c >= letters_.size()) return tree_.add(node);
        if (letters_[c] == 0) letters_[c] = tree_.add(node);
        return letters_[c];
    }

    int32_t one_of(Ranges ranges) {
        if (is_single(ranges)) return letter(ranges[0].first);
        tree_.sets_.push_back(std::move(ranges));
        return tree_.add(Node{.kind = Node::Kind::one_of, .set = static_cast<int32_t>(tree_.sets_.size()) - 1});
    }

    static bool is_single(const Ranges& ranges) {
        return ranges.size() == 1 && ranges[0].first == ranges[0].last;
    }

    int32_t assertion(Assertion assertion) {
        return tree_.add(Node{.kind = Node::Kind::assertion, .assertion = assertion});
    }

    int32_t piece() {
        char32_t c = take();
        switch (c) {
            case '(': return group();
            case '[': return one_of(bracket());
            case '.': return one_of(flags_.breaks ? all_but({}) : all_but({{'\n', '\n'}}));
            case '^': return assertion(flags_.lines ? Assertion::line_start : Assertion::text_start);
            case '$': return assertion(flags_.lines ? Assertion::line_end : Assertion::text_end);
            case '\\': return escape();
            case '*':
            case '+':
            case '?': refuse();
            default: return letter(c);
        }
    }

    int32_t group() {
        Flags outer = flags_;
        if (accept('?')) {
            for (bool value = true; !accept(':');) {
                switch (take()) {
                    case 'm': flags_.lines = value; break;
                    case 's': flags_.breaks = value; break;
                    case '-': value = false; break;
                    default: refuse();
                }
            }
        }
        int32_t inside = choice();
        if (!accept(')')) refuse();
        flags_ = outer;
        return inside;
    }

    int32_t escape() {
        switch (peek()) {
            case 'b': return ++at_, assertion(Assertion::boundary);
            case 'B': return ++at_, assertion(Assertion::no_boundary);
            case 'A': return ++at_, assertion(Assertion::text_start);
            case 'z': return ++at_, assertion(Assertion::text_end);
            default: return one_of(escaped());
        }
    }

    // What stands behind a backslash, within brackets or without.
    Ranges escaped() {
        char32_t c = take();
        switch (c) {
            case 'd': return digits;
            case 'D': return all_but(digits);
            case 'w': return word_characters;
            case 'W': return all_but(word_characters);
            case 's': return blanks;
            case 'S': return all_but(blanks);
            case 'n': return {{'\n', '\n'}};
            case 't': return {{'\t', '\t'}};
            case 'r': return {{'\r', '\r'}};
            case 'f': return {{'\f', '\f'}};
            case 'x': c = hexadecimal(); return {{c, c}};
            default:
                if (c >= 128 || is_alnum(c)) refuse();
                return {{c, c}};
        }
    }

    char32_t hexadecimal() {
        bool braces = accept('{');
        char32_t value = 0;
        for (int count = 0; braces ? !accept('}') : count < 2; ++count) {
            char32_t c = take();
            char32_t low = c | 0x20;
            if (is_figure(c)) value = 16 * value + (c - '0');
            else if (low >= 'a' && low <= 'f') value = 16 * value + (low - 'a' + 10);
            else refuse();
            if (value > last_character) refuse();
        }
        return value;
    }

    Ranges bracket() {
        bool negated = accept('^');
        Ranges found;
        for (bool first = true; first || peek() != ']'; first = false) {
            char32_t c = take();
            if (c == '[' && (peek() == ':' || peek() == '=' || peek() == '.')) refuse();
            Ranges piece = c == '\\' ? escaped() : Ranges{{c, c}};
            if (is_single(piece) && peek() == '-' && at_ + 1 < pattern_.size() && pattern_[at_ + 1] != ']') {
                ++at_;
                char32_t last = take();
                if (last == '[') refuse();
                if (last == '\\') {
                    Ranges end = escaped();
                    if (!is_single(end)) refuse();
                    last = end[0].first;
                }
                if (last < piece[0].first) refuse();
                piece[0].last = last;
            }
            found.insert(found.end(), piece.begin(), piece.end());
        }
        ++at_;
        found = tidied(std::move(found));
        return negated ? all_but(found) : found;
    }

    Tree& tree_;
    View pattern_;
    std::vector<int32_t> open_;  // parts of what is being read
    std::array<int32_t, 128> letters_{};
    size_t at_ = 0;
    Flags flags_;
};

Tree::Tree(View pattern) {
    add(Node{});
    root_ = Reader(*this, pattern).read();
}

}  // namespace synthesis
