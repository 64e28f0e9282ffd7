// The extension module `harness._core`: the three checks, as one object per language.
#include <new>

#include "checks.hpp"

namespace synthesis {

namespace {

struct Core {
    PyObject_HEAD
    Checks* checks;
};

// Runs something that may throw, and leaves it to Python to raise.
template <class Work>
PyObject* guarded(Work work) {
    try {
        return work();
    } catch (const PythonError&) {
    } catch (const Unsupported& error) {
        PyErr_SetString(PyExc_ValueError, error.what());
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_RuntimeError, error.what());
    }
    return nullptr;
}

PyObject* new_core(PyTypeObject* type, PyObject* arguments, PyObject* named) {
    static const char* keywords[] = {"description", nullptr};
    PyObject* description;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "O!:Core", const_cast<char**>(keywords), &PyDict_Type,
                                     &description))
        return nullptr;
    return guarded([&] {
        auto checks = std::make_unique<Checks>(Description(description));
        Owned core(type->tp_alloc(type, 0));
        reinterpret_cast<Core*>(core.get())->checks = checks.release();
        return core.release();
    });
}

void delete_core(PyObject* self) {
    delete reinterpret_cast<Core*>(self)->checks;
    PyTypeObject* type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
}

// None where only Python can do it.
template <class Work>
PyObject* with_checks(PyObject* self, Work work) {
    PyObject* found = guarded([&]() -> PyObject* {
        Checks& checks = *reinterpret_cast<Core*>(self)->checks;
        try {
            return work(checks);
        } catch (const TooMuch&) {
            return nullptr;
        } catch (const std::bad_alloc&) {
            checks.forget();
            throw;
        }
    });
    if (found != nullptr || PyErr_Occurred()) return found;
    Py_RETURN_NONE;
}

// Whether the arguments that both calls begin with are right.
bool are_right(PyObject* const* arguments, double& threshold, const char* usage) {
    if (!PyTuple_Check(arguments[2])) {
        PyErr_SetString(PyExc_TypeError, usage);
        return false;
    }
    threshold = PyFloat_AsDouble(arguments[3]);
    return threshold != -1.0 || !PyErr_Occurred();
}

PyObject* check(PyObject* self, PyObject* const* arguments, Py_ssize_t size) {
    constexpr const char* usage = "check(user, assistant, names, threshold): names must be a tuple";
    double threshold;
    if (size != 4) return PyErr_SetString(PyExc_TypeError, usage), nullptr;
    if (!are_right(arguments, threshold, usage)) return nullptr;
    return with_checks(self, [&](Checks& checks) {
        return checks.check(arguments[0], arguments[1], arguments[2], threshold);
    });
}

PyObject* lines(PyObject* self, PyObject* const* arguments, Py_ssize_t size) {
    constexpr const char* usage =
        "lines(user, assistant, names, threshold, id, expected_failure, rest): names must be a tuple, rest bytes";
    double threshold;
    if (size != 7 || !PyBytes_Check(arguments[6])) return PyErr_SetString(PyExc_TypeError, usage), nullptr;
    if (!are_right(arguments, threshold, usage)) return nullptr;
    const std::string_view rest(PyBytes_AS_STRING(arguments[6]), PyBytes_GET_SIZE(arguments[6]));
    const Labels labels{arguments[4], arguments[5] == Py_True, rest};
    return with_checks(self, [&](Checks& checks) {
        return checks.lines(arguments[0], arguments[1], arguments[2], threshold, labels);
    });
}

PyDoc_STRVAR(check_text,
             "check(user, assistant, names, threshold)\n--\n\n"
             "Status, result and condensed evidence of each check, the latter two as JSON; None where only "
             "Python can do it.");
PyDoc_STRVAR(lines_text,
             "lines(user, assistant, names, threshold, id, expected_failure, rest)\n--\n\n"
             "The statuses, and the lines of a report for a case: its result, which ends with `rest`, and its "
             "failure or None. None where only Python can do it.");
PyDoc_STRVAR(core_text, "Core(description)\n--\n\nThe checks in one language.");

PyMethodDef methods[] = {
    {"check", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(check)), METH_FASTCALL, check_text},
    {"lines", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(lines)), METH_FASTCALL, lines_text},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>(core_text)},
    {Py_tp_new, reinterpret_cast<void*>(new_core)},
    {Py_tp_dealloc, reinterpret_cast<void*>(delete_core)},
    {Py_tp_methods, methods},
    {0, nullptr},
};

PyType_Spec type = {
    "harness._core.Core", sizeof(Core), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots,
};

int execute(PyObject* module) {
    PyObject* made = PyType_FromSpec(&type);
    if (made == nullptr) return -1;
    const int failed = PyModule_AddObjectRef(module, "Core", made);
    Py_DECREF(made);
    return failed;
}

PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(execute)},
    {0, nullptr},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_core", nullptr, 0, nullptr, module_slots, nullptr, nullptr, nullptr,
};

}  // namespace

}  // namespace synthesis

PyMODINIT_FUNC PyInit__core() { return PyModuleDef_Init(&synthesis::definition); }
