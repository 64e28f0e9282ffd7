// The three checks of one language on an exchange, and what is written of them.
#pragma once

#include "agency.hpp"
#include "pivot.hpp"
#include "reassurance.hpp"

namespace synthesis {

// A case as a report has it, beside its two texts.
struct Labels {
    PyObject* identity;
    bool expected_failure;
    std::string_view rest;  // what its line ends with
};

// Everything of one language. What is worked out for an exchange stands in memory that the next one uses.
class Checks {
public:
    explicit Checks(const Description& description);

    // Status, result and condensed evidence of each check. Null, with no error, where Python has to do it.
    PyObject* check(PyObject* user, PyObject* reply, PyObject* names, double threshold);
    // The statuses, the line of the result, and that of the failure or None. Null as above.
    PyObject* lines(PyObject* user, PyObject* reply, PyObject* names, double threshold, const Labels& labels);
    // After something went wrong in the middle.
    void forget() { exchange_.forget(); }

private:
    bool begin(PyObject* user, PyObject* reply);
    const Verdict& verdict_of(PyObject* name, double threshold);
    void add(const Verdict& verdict);

    Knowledge knowledge_;
    Exchange exchange_;
    AgencyCheck agency_;
    ReassuranceCheck reassurance_;
    PivotCheck pivot_;
    Text names_[3];
    Text name_;
    // While lines are written:
    Text identity_;
    std::vector<Status> statuses_;
    Json results_, failed_, evidence_, line_;
};

}  // namespace synthesis
