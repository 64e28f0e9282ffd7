#include "block_counts.hpp"

#include <algorithm>

#include "checks.hpp"

namespace synthesis {

namespace {

Owned string_of(std::string_view bytes) {
    return Owned(PyUnicode_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size())));
}

Owned string_of(View text) {
    const auto size = static_cast<Py_ssize_t>(text.size());
    return Owned(PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, text.data(), size));
}

void append(const Owned& list, Owned item) {
    if (PyList_Append(list.get(), item.get()) < 0) throw PythonError{};
}

Owned statuses_of(const Outcome& outcome) {
    Owned words(PyTuple_New(outcome.size));
    for (uint8_t at = 0; at < outcome.size; ++at)
        PyTuple_SET_ITEM(words.get(), at, word_for(outcome.statuses[at]).release());
    return words;
}

PyObject* truth_of(Label label) {
    return label == Label::passes ? Py_True : label == Label::fails ? Py_False : Py_None;
}

}  // namespace

bool Outcome::has(Status status) const {
    return std::find(statuses.begin(), statuses.begin() + size, status) != statuses.begin() + size;
}

void BlockCounts::add(const CaseLine& line, const Outcome& outcome) {
    ++cases_;
    const auto same = [&](const Alike& each) { return each.outcome == outcome; };
    const auto found = std::find_if(alike_.begin(), alike_.end(), same);
    if (found != alike_.end()) {
        ++found->times;
    } else {
        alike_.push_back({outcome, 1});
    }
    if (!line.expected.empty() || !line.tags.empty()) add_labels(line, outcome);
}

void BlockCounts::add_labels(const CaseLine& line, const Outcome& outcome) {
    const bool passed = !outcome.has(Status::failed);
    bool fine = !outcome.negative;
    for (const Expectation& each : line.expected) {
        if (each.label == Label::fails) fine = false;
        for (uint8_t at = 0; at < outcome.size; ++at)
            if (outcome.checks[at] == each.check)
                ++labels_[each.check][static_cast<int>(each.label)][static_cast<int>(outcome.statuses[at])];
    }
    if (outcome.negative && passed) lost_.push_back(line.id);
    add_slices(line, fine, passed);
}

// A slice is told of even where none of its cases is fine by its labels.
void BlockCounts::add_slices(const CaseLine& line, bool fine, bool passed) {
    for (const Text& tag : line.tags) {
        if (!tag.starts_with(slice_prefix_)) continue;
        Slice& slice = slices_[tag.substr(slice_prefix_.size())];
        if (std::exchange(slice.last, cases_) == cases_ || !fine) continue;
        ++(passed ? slice.passed : slice.flagged);
    }
}

Owned BlockCounts::told(const char* failures) const {
    const Owned shown = shown_told(failures), alike = alike_told(), labels = labels_told(), slices = slices_told(),
                lost = lost_told(), missed = missed_told();
    return Owned(
        PyTuple_Pack(6, shown.get(), alike.get(), labels.get(), slices.get(), lost.get(), missed.get()));
}

Owned BlockCounts::shown_told(const char* failures) const {
    Owned list(PyList_New(0));
    for (const auto& kind : shown_)
        for (const Shown& each : kind)
            append(list, Owned(PyBytes_FromStringAndSize(failures + each.start, static_cast<Py_ssize_t>(each.size))));
    return list;
}

Owned BlockCounts::checks_of(const Outcome& outcome) const {
    Owned words(PyTuple_New(outcome.size));
    for (uint8_t at = 0; at < outcome.size; ++at)
        PyTuple_SET_ITEM(words.get(), at, string_of(names_[outcome.checks[at]]).release());
    return words;
}

Owned BlockCounts::alike_told() const {
    Owned list(PyList_New(0));
    for (const Alike& each : alike_) {
        const Owned checks = checks_of(each.outcome), statuses = statuses_of(each.outcome);
        PyObject* negative = each.outcome.negative ? Py_True : Py_False;
        append(list, Owned(Py_BuildValue("(OOOl)", checks.get(), statuses.get(), negative, each.times)));
    }
    return list;
}

Owned BlockCounts::labels_told() const {
    Owned list(PyList_New(0));
    for (int check = 0; check < check_count; ++check)
        for (int label = 0; label < label_count; ++label)
            for (int status = 0; status < status_count; ++status) {
                const long times = labels_[check][label][status];
                if (times == 0) continue;
                const Owned name = string_of(names_[check]), word = word_for(static_cast<Status>(status));
                PyObject* truth = truth_of(static_cast<Label>(label));
                append(list, Owned(Py_BuildValue("(OOOl)", name.get(), truth, word.get(), times)));
            }
    return list;
}

Owned BlockCounts::slices_told() const {
    Owned list(PyList_New(0));
    for (const auto& [name, slice] : slices_) {
        const Owned word = string_of(View(name));
        append(list, Owned(Py_BuildValue("(Oll)", word.get(), slice.passed, slice.flagged)));
    }
    return list;
}

Owned BlockCounts::lost_told() const {
    Owned list(PyList_New(0));
    for (const std::string_view id : lost_) append(list, string_of(id));
    return list;
}

Owned BlockCounts::missed_told() const {
    Owned list(PyList_New(0));
    for (const Missed& each : missed_) {
        const Owned id = string_of(each.id), checks = checks_of(each.outcome), statuses = statuses_of(each.outcome);
        append(list, Owned(PyTuple_Pack(3, id.get(), checks.get(), statuses.get())));
    }
    return list;
}

}  // namespace synthesis
