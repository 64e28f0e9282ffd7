#include "checks.hpp"

#include <algorithm>

namespace synthesis {

namespace {

struct Written {
    Status status;
    Owned result;
    Owned condensed;
};

Owned bytes_of(const Json& json) {
    const std::string_view written = json.written();
    return Owned(PyBytes_FromStringAndSize(written.data(), static_cast<Py_ssize_t>(written.size())));
}

}  // namespace

Owned word_for(Status status) {
    switch (status) {
        case Status::passed: return Owned(PyUnicode_InternFromString("passed"));
        case Status::failed: return Owned(PyUnicode_InternFromString("failed"));
        default: return Owned(PyUnicode_InternFromString("not_applicable"));
    }
}

Checks::Checks(const Description& description)
    : knowledge_(description),
      exchange_(knowledge_, description.section("vocabulary")),
      agency_(exchange_),
      reassurance_(exchange_),
      pivot_(exchange_) {
    const Description names = description.section("checks");
    size_t number = 0;
    for (const char* name : {"agency", "reassurance", "pivot"}) {
        name_.clear();
        name_.inside(names.text(name));
        names_[number++] = name_.written();
    }
}

void Checks::let_go() {
    exchange_.let_go();
    for (Verdict* verdict : {&agency_.verdict, &reassurance_.verdict, &pivot_.verdict}) verdict->clear();
}

void Checks::begin() {
    if (!exchange_.begin()) throw TooMuch{};
}

void Checks::begin(PyObject* user, PyObject* reply) {
    let_go();
    read_text(user, exchange_.user.original);
    read_text(reply, exchange_.reply.original);
    begin();
}

const Verdict& Checks::verdict_of(uint8_t check, double threshold) {
    switch (check) {
        case 0: agency_.check(); return agency_.verdict;
        case 1: reassurance_.check(); return reassurance_.verdict;
        default: pivot_.check(threshold); return pivot_.verdict;
    }
}

uint8_t Checks::number_of(PyObject* name) {
    read_text(name, read_);
    name_.clear();
    name_.inside(read_);
    const auto found = std::find(names_.begin(), names_.end(), name_.written());
    if (found == names_.end()) {
        PyErr_SetObject(PyExc_ValueError, name);
        throw PythonError{};
    }
    return static_cast<uint8_t>(found - names_.begin());
}

PyObject* Checks::check(PyObject* user, PyObject* reply, PyObject* names, double threshold) {
    begin(user, reply);
    const Py_ssize_t size = PyTuple_GET_SIZE(names);
    std::vector<Written> all;
    all.reserve(size);
    for (Py_ssize_t at = 0; at < size; ++at) {
        const Verdict& verdict = verdict_of(number_of(PyTuple_GET_ITEM(names, at)), threshold);
        all.push_back({verdict.status, bytes_of(verdict.result), bytes_of(verdict.condensed)});
    }
    // Only now, since a list may set off the garbage collector, and with it another check.
    Owned list(PyList_New(size));
    for (Py_ssize_t at = 0; at < size; ++at) {
        Owned status = word_for(all[at].status);
        Owned result(PyTuple_Pack(3, status.get(), all[at].result.get(), all[at].condensed.get()));
        PyList_SET_ITEM(list.get(), at, result.release());
    }
    return list.release();
}

PyObject* Checks::lines(PyObject* user, PyObject* reply, PyObject* names, double threshold, const Labels& labels) {
    begin(user, reply);
    read_text(labels.identity, read_);
    identity_.clear();
    identity_.inside(read_);
    case_.id = identity_.written();
    case_.expected_failure = labels.expected_failure;
    case_.judgements.clear();
    std::vector<Status> statuses;
    for (Py_ssize_t at = 0; at < PyTuple_GET_SIZE(names); ++at) {
        const uint8_t check = number_of(PyTuple_GET_ITEM(names, at));
        case_.judgements.push_back({names_[check], &verdict_of(check, threshold)});
        statuses.push_back(case_.judgements.back().verdict->status);
    }
    line_.clear();
    case_.write_result(line_);
    line_.raw(labels.rest);
    Owned result = bytes_of(line_);
    line_.clear();
    if (case_.failed()) case_.write_failure(line_);
    Owned failure = case_.failed() ? bytes_of(line_) : Owned(Py_NewRef(Py_None));
    // What is made next may set off another check.
    Owned words(PyTuple_New(static_cast<Py_ssize_t>(statuses.size())));
    for (size_t at = 0; at < statuses.size(); ++at) PyTuple_SET_ITEM(words.get(), at, word_for(statuses[at]).release());
    return PyTuple_Pack(3, words.get(), result.get(), failure.get());
}

}  // namespace synthesis
