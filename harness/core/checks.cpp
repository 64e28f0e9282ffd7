#include "checks.hpp"

#include <algorithm>

namespace synthesis {

namespace {

Owned bytes_of(const Json& json) {
    const std::string_view written = json.written();
    return Owned(PyBytes_FromStringAndSize(written.data(), static_cast<Py_ssize_t>(written.size())));
}

Owned word_for(Status status) {
    switch (status) {
        case Status::passed: return Owned(PyUnicode_InternFromString("passed"));
        case Status::failed: return Owned(PyUnicode_InternFromString("failed"));
        default: return Owned(PyUnicode_InternFromString("not_applicable"));
    }
}

struct Written {
    Status status;
    Owned result;
    Owned condensed;
};

}  // namespace

Checks::Checks(const Description& description)
    : knowledge_(description),
      exchange_(knowledge_, description.section("vocabulary")),
      agency_(exchange_),
      reassurance_(exchange_),
      pivot_(exchange_) {
    const Description names = description.section("checks");
    names_[0] = names.text("agency");
    names_[1] = names.text("reassurance");
    names_[2] = names.text("pivot");
}

bool Checks::begin(PyObject* user, PyObject* reply) {
    read_text(user, exchange_.user.original);
    read_text(reply, exchange_.reply.original);
    return exchange_.begin();
}

const Verdict& Checks::verdict_of(PyObject* name, double threshold) {
    read_text(name, name_);
    if (name_ == names_[0]) {
        agency_.check();
        return agency_.verdict;
    }
    if (name_ == names_[1]) {
        reassurance_.check();
        return reassurance_.verdict;
    }
    if (name_ == names_[2]) {
        pivot_.check(threshold);
        return pivot_.verdict;
    }
    PyErr_SetObject(PyExc_ValueError, name);
    throw PythonError{};
}

PyObject* Checks::check(PyObject* user, PyObject* reply, PyObject* names, double threshold) {
    if (!begin(user, reply)) return nullptr;
    const Py_ssize_t size = PyTuple_GET_SIZE(names);
    std::vector<Written> all;
    all.reserve(size);
    for (Py_ssize_t at = 0; at < size; ++at) {
        const Verdict& verdict = verdict_of(PyTuple_GET_ITEM(names, at), threshold);
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
    if (!begin(user, reply)) return nullptr;
    read_text(labels.identity, identity_);
    statuses_.clear();
    for (Json* json : {&results_, &failed_, &evidence_}) json->clear();
    for (Py_ssize_t at = 0; at < PyTuple_GET_SIZE(names); ++at) {
        add(verdict_of(PyTuple_GET_ITEM(names, at), threshold));
    }
    const bool failed = std::find(statuses_.begin(), statuses_.end(), Status::failed) != statuses_.end();
    line_.clear();
    line_.raw("{\"id\":");
    line_.text(identity_);
    line_.raw(",\"pass\":");
    line_.truth(!failed);
    line_.raw(",\"expected_failure\":");
    line_.truth(labels.expected_failure);
    line_.raw(",\"checks\":{");
    line_.raw(results_.written());
    line_.raw("}");
    line_.raw(labels.rest);
    Owned result = bytes_of(line_);
    line_.clear();
    line_.raw("{\"id\":");
    line_.text(identity_);
    line_.raw(",\"failed\":[");
    line_.raw(failed_.written());
    line_.raw("],\"evidence\":{");
    line_.raw(evidence_.written());
    line_.raw("},\"expected_failure\":");
    line_.truth(labels.expected_failure);
    line_.raw("}");
    Owned failure = failed ? bytes_of(line_) : Owned(Py_NewRef(Py_None));
    const std::vector<Status> statuses(statuses_);  // what is made next may set off another check
    Owned words(PyTuple_New(static_cast<Py_ssize_t>(statuses.size())));
    for (size_t at = 0; at < statuses.size(); ++at) PyTuple_SET_ITEM(words.get(), at, word_for(statuses[at]).release());
    return PyTuple_Pack(3, words.get(), result.get(), failure.get());
}

// One more check to the parts of both lines; `name_` is its name.
void Checks::add(const Verdict& verdict) {
    if (!statuses_.empty()) results_.raw(",");
    statuses_.push_back(verdict.status);
    results_.text(name_);
    results_.raw(":");
    results_.raw(verdict.result.written());
    if (verdict.status != Status::failed) return;
    if (!failed_.written().empty()) failed_.raw(",");
    failed_.text(name_);
    const std::string_view told = verdict.condensed.written();
    if (told.size() <= 2) return;
    if (!evidence_.written().empty()) evidence_.raw(",");
    evidence_.raw(told.substr(1, told.size() - 2));
}

}  // namespace synthesis
