#include "block.hpp"

#include <algorithm>

namespace synthesis {

namespace {

// As `bytes.isspace` has it.
bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r\v\f") == line.npos; }

// Between two lines of a list.
void go_on(Json& json, std::string_view separator) {
    if (!json.written().empty()) json.raw(separator);
}

uint8_t number_of(const std::array<std::string, check_count>& names, const Text& name) {
    Json written;
    written.inside(name);
    const auto found = std::find(names.begin(), names.end(), written.written());
    return static_cast<uint8_t>(found - names.begin());
}

}  // namespace

BlockCheck::BlockCheck(Checks& checks, const Description& cases)
    : checks_(checks),
      reader_(checks.user(), checks.reply(), checks.names(), number_of(checks.names(), cases.text("may_not_apply"))),
      negative_(cases.text("negative")),
      negative_ending_(cases.text("negative_ending")),
      slice_prefix_(cases.text("slice")) {}

PyObject* BlockCheck::check(std::string_view content, const BlockOptions& options) {
    for (Json* json : {&results_, &failures_, &ids_}) json->clear();
    BlockCounts counts(checks_.names(), slice_prefix_);
    for (size_t start = 0; start < content.size();) {
        const size_t end = std::min(content.find('\n', start), content.size());
        const std::string_view line = content.substr(start, end - start);
        if (!is_blank(line)) check_line(line, options, counts);
        start = end + 1;
    }
    checks_.let_go();
    const Owned results = results_.take(), failures = failures_.take(), ids = ids_.take();
    // Only now, since a list may set off the garbage collector, and with it another block.
    const Owned counted = counts.told(PyBytes_AS_STRING(failures.get()));
    return PyTuple_Pack(4, results.get(), failures.get(), ids.get(), counted.get());
}

void BlockCheck::check_line(std::string_view line, const BlockOptions& options, BlockCounts& counts) {
    const CaseLine& read = reader_.read(line);
    judge(read, options.threshold);
    write(read);
    if (outcome_.has(Status::failed)) write_failure(options.shown, counts);
    counts.add(read, outcome_);
    const bool missed = outcome_.has(Status::passed) || outcome_.has(Status::not_applicable);
    if (options.planted && missed) counts.add_missed(read.id, outcome_);
}

void BlockCheck::judge(const CaseLine& line, double threshold) {
    checks_.begin();
    outcome_ = Outcome();
    outcome_.negative = is_negative(line.tags);
    case_.id = line.id;
    case_.expected_failure = outcome_.negative;
    case_.judgements.clear();
    for (const uint8_t check : line.checks) {
        const Verdict& verdict = checks_.verdict_of(check, threshold);
        case_.judgements.push_back({checks_.names()[check], &verdict});
        outcome_.add(check, verdict.status);
    }
}

void BlockCheck::write(const CaseLine& line) {
    go_on(ids_, "\n");
    ids_.raw(line.id);
    go_on(results_, ",\n");
    case_.write_result(results_);
    write_labels(line);
}

void BlockCheck::write_failure(size_t shown, BlockCounts& counts) {
    go_on(failures_, ",\n");
    const size_t start = failures_.written().size();
    case_.write_failure(failures_);
    if (counts.shown(outcome_.negative) < shown)
        counts.show(outcome_.negative, start, failures_.written().size() - start);
}

void BlockCheck::write_labels(const CaseLine& line) {
    results_.raw(",\"expected\":{");
    std::string_view before = "\"";
    for (const Expectation& each : line.expected) {
        results_.raw(before);
        results_.raw(checks_.names()[each.check]);
        results_.raw("\":");
        if (each.label == Label::does_not_apply) {
            results_.raw("null");
        } else {
            results_.truth(each.label == Label::passes);
        }
        before = ",\"";
    }
    results_.raw("},\"tags\":[");
    for (const Text& tag : line.tags) {
        if (&tag != &line.tags[0]) results_.raw(",");
        results_.text(tag);
    }
    results_.raw("]}");
}

bool BlockCheck::is_negative(const std::vector<Text>& tags) const {
    return std::any_of(tags.begin(), tags.end(),
                       [this](const Text& tag) { return tag == negative_ || tag.ends_with(negative_ending_); });
}

}  // namespace synthesis
