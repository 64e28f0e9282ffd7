#include "verdict.hpp"

#include <algorithm>

namespace synthesis {

namespace {

constexpr std::string_view openings[] = {
    "{\"status\":\"passed\",\"pass\":true,\"reason\":\"",
    "{\"status\":\"failed\",\"pass\":false,\"reason\":\"",
    "{\"status\":\"not_applicable\",\"pass\":true,\"reason\":\"",
};

// In quotation marks such as these: '…'. Most texts have nothing else in them.
bool is_shown_as_it_is(char32_t c) { return c >= ' ' && c <= '~' && c != '\'' && c != '\\'; }

constexpr std::string_view user_side = ",\"side\":\"user\"}";
constexpr std::string_view assistant_side = ",\"side\":\"assistant\"}";

}  // namespace

void Verdict::begin(Status decided) {
    status = decided;
    clear();
    result.raw(openings[static_cast<int>(decided)]);
}

void Verdict::clear() {
    result.clear();
    condensed.clear();
}

void Verdict::write(const Hit& hit) {
    const Names& names = exchange_.knowledge.names;
    result.raw("{\"rule\":\"");
    result.raw(names[hit.rule]);
    result.raw("\",\"group\":\"");
    result.raw(names[hit.group]);
    result.raw("\",\"text\":\"");
    result.inside(exchange_.text_of(hit));
    result.raw("\",\"start\":");
    result.number(hit.start);
    result.raw(",\"end\":");
    result.number(hit.end);
    result.raw(hit.by_user ? user_side : assistant_side);
}

void Verdict::spans(const std::vector<Hit>& hits) {
    begin_list("spans");
    for (const Hit& hit : hits) {
        if (&hit != &hits[0]) result.raw(",");
        write(hit);
    }
    result.raw("]");
}

void Verdict::begin_list(const char* name) {
    result.raw(",\"");
    result.raw(name);
    result.raw("\":");
    list_ = result.written().size();
    result.raw("[");
}

void Verdict::distinct_texts(const char* name, const std::vector<Hit>& hits) {
    begin_list(name);
    Pairs& seen = exchange_.pairs;
    seen.clear(hits.size());
    int32_t number = 0;
    for (const Hit& hit : hits) {
        ++number;
        const View text = exchange_.text_of(hit);
        // Texts with the same hash that are not the same text have their next places looked at.
        uint64_t key = hash_of(text);
        Pairs::Slot* slot = &seen.at(key);
        while (slot->one && exchange_.text_of(hits[slot->one - 1]) != text) slot = &seen.at(++key);
        if (slot->one) continue;
        slot->one = number;
        if (number > 1) result.raw(",");
        result.text(text);
    }
    result.raw("]");
}

int32_t Verdict::distinct_rules(const std::vector<Hit>& hits) {
    first_.assign(exchange_.knowledge.names.size(), -1);
    rules_.clear();
    for (auto number = static_cast<int32_t>(hits.size()) - 1; number >= 0; --number) {
        const int16_t rule = hits[number].rule;
        if (first_[rule] < 0) rules_.push_back(rule);
        first_[rule] = number;
    }
    return static_cast<int32_t>(rules_.size());
}

void Verdict::text_per_rule(const char* name, const std::vector<Hit>& hits) {
    begin_list(name);
    for (int32_t left = distinct_rules(hits); left > 0; --left) {
        result.text(exchange_.text_of(hits[first_[rules_[left - 1]]]));
        if (left > 1) result.raw(",");
    }
    result.raw("]");
}

void Verdict::quoted(View text) {
    if (std::all_of(text.begin(), text.end(), is_shown_as_it_is)) {
        result.raw("'");
        result.inside(text);
        return result.raw("'");
    }
    const auto size = static_cast<Py_ssize_t>(text.size());
    Owned string(PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, text.data(), size));
    Owned shown(PyObject_Repr(string.get()));
    read_text(shown.get(), shown_);
    result.inside(shown_);
}

}  // namespace synthesis
