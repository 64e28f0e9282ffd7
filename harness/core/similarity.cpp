// How alike two texts are: the cosine of two bags of words and of pairs of words.
#include <cmath>

#include "exchange.hpp"

namespace synthesis {

namespace {

constexpr int places = 6;
constexpr double millionths = 1e6;
constexpr int32_t alone = -1;  // stands before a word that is not one of a pair

// As Python's `round(value, 6)` for a value from 0 to 1.
double rounded(double value) {
    const double scaled = value * millionths;
    const double whole = std::floor(scaled);
    // Scaling may have moved it across the middle only where it is next to it.
    const double rest = scaled - whole;
    if (std::fabs(rest - 0.5) > 1e-6) return (rest < 0.5 ? whole : whole + 1) / millionths;
    char* digits = PyOS_double_to_string(value, 'f', places, 0, nullptr);
    if (digits == nullptr) throw std::bad_alloc();
    const double found = PyOS_string_to_double(digits, nullptr, nullptr);
    PyMem_Free(digits);
    return found;
}

}  // namespace

double Exchange::similarity() {
    size_t words = 0;
    for (size_t number = 0; number < user.lines.size(); ++number) words += user_said(number).words.size();
    for (size_t number = 0; number < reply.lines.size(); ++number) words += reply_said(number).words.size();
    pairs.clear(2 * words);
    // Each thing that comes once more adds to the bag's product with itself, and with the other bag.
    uint64_t square_one = 0, square_two = 0, shared = 0;
    auto add_one = [&](uint64_t key) { square_one += 2 * static_cast<uint64_t>(pairs.at(key).one++) + 1; };
    auto add_two = [&](uint64_t key) {
        Pairs::Slot& slot = pairs.at(key);
        square_two += 2 * static_cast<uint64_t>(slot.two++) + 1;
        shared += static_cast<uint64_t>(slot.one);
    };
    auto each_gram = [](const Said& said, int32_t& before, auto add) {
        for (const int32_t word : said.words) {
            add(Pairs::key(alone, word));
            if (before != alone) add(Pairs::key(before, word));
            before = word;
        }
    };
    int32_t before = alone;
    for (size_t line = 0; line < user.lines.size(); ++line) each_gram(user_said(line), before, add_one);
    before = alone;
    for (size_t line = 0; line < reply.lines.size(); ++line) each_gram(reply_said(line), before, add_two);
    if (shared == 0) return 0.0;
    if (square_one > UINT64_MAX / square_two) throw TooMuch{};
    const double size = std::sqrt(static_cast<double>(square_one * square_two));
    return rounded(std::min(1.0, static_cast<double>(shared) / size));
}

}  // namespace synthesis
