// A line of a case file: what `harness.cases.CaseRow` is, read without Python.
#pragma once

#include <array>

#include "description.hpp"
#include "json_string.hpp"

namespace synthesis {

constexpr int check_count = 3;

enum class Label : uint8_t { passes, fails, does_not_apply };  // true, false, null
constexpr int label_count = 3;

struct Expectation {
    uint8_t check;
    Label label;
};

// One case, but for its two texts.
struct CaseLine {
    std::string_view id;  // in the line itself
    std::vector<uint8_t> checks;
    std::vector<Expectation> expected;
    std::vector<Text> tags;
};

class CaseReader {
public:
    // The texts are read to where they are needed. Names are as JSON writes them.
    CaseReader(Text& user, Text& reply, const std::array<std::string, check_count>& names, uint8_t may_not_apply)
        : user_(user), reply_(reply), names_(names), may_not_apply_(may_not_apply) {}

    // Good until the next line is read. Throws `NotPlain` at whatever Python refuses, and at some things
    // that nobody writes.
    const CaseLine& read(std::string_view line);

private:
    using Field = void (CaseReader::*)();
    struct Key {
        std::string_view name;
        Field read;
        bool needed;
    };
    static const std::array<Key, 7> keys;

    void read_field(std::string_view name);
    void read_id();
    void read_user() { read_said(user_); }
    void read_reply() { read_said(reply_); }
    void read_said(Text& text);
    void read_checks();
    void read_expected();
    void read_tags();
    void read_notes();
    Label read_label();
    uint8_t known_check();

    template <class Item>
    void each(char open, char close, Item item);
    void skip_space();
    bool skip(char c);
    void expect(char c);
    bool skip_word(std::string_view word);
    // The inside of a string, escapes and all.
    std::string_view string();

    Text& user_;
    Text& reply_;
    const std::array<std::string, check_count>& names_;
    uint8_t may_not_apply_;
    const char* at_ = nullptr;
    const char* end_ = nullptr;
    uint32_t seen_ = 0;  // a bit for each key
    CaseLine case_;
};

}  // namespace synthesis
