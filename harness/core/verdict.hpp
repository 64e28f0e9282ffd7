// What a check says, as the JSON that Python would write of its result.
#pragma once

#include "exchange.hpp"
#include "json.hpp"

namespace synthesis {

enum class Status : uint8_t { passed, failed, not_applicable };

class Verdict {
public:
    explicit Verdict(Exchange& exchange) : exchange_(exchange) {}

    Status status = Status::passed;
    Json result;
    Json condensed;  // empty unless it failed

    void begin(Status decided);
    void clear();
    // `"spans":[...]`, with a comma before it.
    void spans(const std::vector<Hit>& hits);
    // The matched texts, each once, in the order they first appear.
    void distinct_texts(const char* name, const std::vector<Hit>& hits);
    // The first text each rule matched, as many as there are rules.
    void text_per_rule(const char* name, const std::vector<Hit>& hits);
    // The list last written, once more.
    std::string_view list() const { return result.written().substr(list_); }
    // Part of the reason: a text as Python would show it.
    void quoted(View text);

    int32_t distinct_rules(const std::vector<Hit>& hits);

private:
    void begin_list(const char* name);
    void write(const Hit& hit);

    Exchange& exchange_;
    size_t list_ = 0;  // where the list last written begins
    std::vector<int32_t> first_;  // by rule: the first hit
    std::vector<int16_t> rules_;  // the rules found, the last one first
    Text shown_;
};

}  // namespace synthesis
