// The three checks of one language on an exchange, and what is written of them.
#pragma once

#include "agency.hpp"
#include "case_reader.hpp"
#include "judged_case.hpp"
#include "pivot.hpp"
#include "reassurance.hpp"

namespace synthesis {

// A case as a report has it, beside its two texts.
struct Labels {
    PyObject* identity;
    bool expected_failure;
    std::string_view rest;  // what its line ends with
};

// What Python calls it.
Owned word_for(Status status);

// Everything of one language. What is worked out for an exchange stands in memory that the next one uses.
class Checks {
public:
    explicit Checks(const Description& description);

    // Status, result and condensed evidence of each check.
    PyObject* check(PyObject* user, PyObject* reply, PyObject* names, double threshold);
    // The statuses, the line of the result, and that of the failure or None.
    PyObject* lines(PyObject* user, PyObject* reply, PyObject* names, double threshold, const Labels& labels);

    // The same for texts that are in `user` and `reply`: first `begin`, then any of the checks.
    Text& user() { return exchange_.user.original; }
    Text& reply() { return exchange_.reply.original; }
    void begin();
    const Verdict& verdict_of(uint8_t check, double threshold);
    // As JSON writes them.
    const std::array<std::string, check_count>& names() const { return names_; }

    // After something went wrong in the middle.
    void forget() { exchange_.forget(); }
    // Copies of this process that are made from now on tell each other what they find in sentences.
    void share() { exchange_.memory.share(); }
    size_t searched() const { return exchange_.memory.searched(); }
    // Gives back what an endless text needed.
    void let_go();

private:
    void begin(PyObject* user, PyObject* reply);
    uint8_t number_of(PyObject* name);

    Knowledge knowledge_;
    Exchange exchange_;
    AgencyCheck agency_;
    ReassuranceCheck reassurance_;
    PivotCheck pivot_;
    std::array<std::string, check_count> names_;
    // While lines are written:
    Text read_;
    Json identity_, name_, line_;
    JudgedCase case_;
};

}  // namespace synthesis
