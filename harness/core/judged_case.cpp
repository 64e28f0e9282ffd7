#include "judged_case.hpp"

#include <algorithm>

namespace synthesis {

namespace {

bool is_failed(const Judgement& each) { return each.verdict->status == Status::failed; }

void write_id(Json& json, std::string_view id) {
    json.raw("{\"id\":\"");
    json.raw(id);
    json.raw("\"");
}

}  // namespace

bool JudgedCase::failed() const { return std::any_of(judgements.begin(), judgements.end(), is_failed); }

void JudgedCase::write_result(Json& json) const {
    write_id(json, id);
    json.raw(failed() ? std::string_view(",\"pass\":false") : std::string_view(",\"pass\":true"));
    json.raw(",\"expected_failure\":");
    json.truth(expected_failure);
    json.raw(",\"checks\":{");
    for (const Judgement& each : judgements) {
        json.raw(&each == &judgements[0] ? "\"" : ",\"");
        json.raw(each.check);
        json.raw("\":");
        json.raw(each.verdict->result.written());
    }
    json.raw("}");
}

void JudgedCase::write_failure(Json& json) const {
    write_id(json, id);
    std::string_view before = ",\"failed\":[\"";
    for (const Judgement& each : judgements) {
        if (!is_failed(each)) continue;
        json.raw(before);
        json.raw(each.check);
        before = "\",\"";
    }
    json.raw("\"],\"evidence\":{");
    before = "";
    for (const Judgement& each : judgements) {
        const std::string_view told = each.verdict->condensed.written();
        if (told.size() <= 2) continue;
        json.raw(before);
        json.raw(told.substr(1, told.size() - 2));
        before = ",";
    }
    json.raw("},\"expected_failure\":");
    json.truth(expected_failure);
    json.raw("}");
}

}  // namespace synthesis
