#include "case_reader.hpp"

#include <algorithm>
#include <cstring>

namespace synthesis {

const std::array<CaseReader::Key, 7> CaseReader::keys = {{
    {"id", &CaseReader::read_id, true},
    {"user", &CaseReader::read_user, true},
    {"assistant", &CaseReader::read_reply, true},
    {"checks", &CaseReader::read_checks, true},
    {"expected", &CaseReader::read_expected, false},
    {"tags", &CaseReader::read_tags, false},
    {"notes", &CaseReader::read_notes, false},
}};

const CaseLine& CaseReader::read(std::string_view line) {
    at_ = line.data();
    end_ = at_ + line.size();
    seen_ = 0;
    case_.checks.clear();
    case_.expected.clear();
    case_.tags.clear();
    each('{', '}', [this] {
        const std::string_view name = string();
        expect(':');
        read_field(name);
    });
    skip_space();
    if (at_ != end_) throw NotPlain{};
    for (size_t number = 0; number < keys.size(); ++number)
        if (keys[number].needed && !(seen_ >> number & 1)) throw NotPlain{};
    return case_;
}

// A key that comes twice is not plain: the last one counts.
void CaseReader::read_field(std::string_view name) {
    for (size_t number = 0; number < keys.size(); ++number) {
        if (keys[number].name != name) continue;
        if (seen_ >> number & 1) throw NotPlain{};
        seen_ |= 1u << number;
        return (this->*keys[number].read)();
    }
    throw NotPlain{};
}

// `^[A-Z]+-[0-9]+\Z`
void CaseReader::read_id() {
    const std::string_view id = string();
    const auto all = [](std::string_view part, char first, char last) {
        return !part.empty() &&
               std::all_of(part.begin(), part.end(), [=](char c) { return c >= first && c <= last; });
    };
    const size_t dash = id.find('-');
    if (dash == id.npos || !all(id.substr(0, dash), 'A', 'Z') || !all(id.substr(dash + 1), '0', '9'))
        throw NotPlain{};
    case_.id = id;
}

void CaseReader::read_said(Text& text) {
    read_string(string(), text);
    if (text.empty()) throw NotPlain{};
}

void CaseReader::read_checks() {
    each('[', ']', [this] {
        const uint8_t check = known_check();
        if (std::find(case_.checks.begin(), case_.checks.end(), check) != case_.checks.end()) throw NotPlain{};
        case_.checks.push_back(check);
    });
    if (case_.checks.empty()) throw NotPlain{};
}

void CaseReader::read_expected() {
    each('{', '}', [this] {
        const uint8_t check = known_check();
        for (const Expectation& before : case_.expected)
            if (before.check == check) throw NotPlain{};
        expect(':');
        const Label label = read_label();
        if (label == Label::does_not_apply && check != may_not_apply_) throw NotPlain{};
        case_.expected.push_back({check, label});
    });
}

Label CaseReader::read_label() {
    skip_space();
    if (skip_word("true")) return Label::passes;
    if (skip_word("false")) return Label::fails;
    if (skip_word("null")) return Label::does_not_apply;
    throw NotPlain{};
}

void CaseReader::read_tags() {
    each('[', ']', [this] { read_string(string(), case_.tags.emplace_back()); });
}

// They are not needed, but must be right.
void CaseReader::read_notes() {
    Text notes;
    read_string(string(), notes);
}

uint8_t CaseReader::known_check() {
    const auto found = std::find(names_.begin(), names_.end(), string());
    if (found == names_.end()) throw NotPlain{};
    return static_cast<uint8_t>(found - names_.begin());
}

template <class Item>
void CaseReader::each(char open, char close, Item item) {
    expect(open);
    if (skip(close)) return;
    do item();
    while (skip(','));
    expect(close);
}

void CaseReader::skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r')) ++at_;
}

bool CaseReader::skip(char c) {
    skip_space();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
}

void CaseReader::expect(char c) {
    if (!skip(c)) throw NotPlain{};
}

bool CaseReader::skip_word(std::string_view word) {
    if (!std::string_view(at_, end_ - at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
}

std::string_view CaseReader::string() {
    expect('"');
    const char* const begin = at_;
    for (;;) {
        const void* found = std::memchr(at_, '"', end_ - at_);
        if (found == nullptr) throw NotPlain{};
        const char* const quote = static_cast<const char*>(found);
        at_ = quote + 1;
        const char* before = quote;
        while (before != begin && before[-1] == '\\') --before;
        if ((quote - before) % 2 == 0) return {begin, static_cast<size_t>(quote - begin)};
    }
}

}  // namespace synthesis
