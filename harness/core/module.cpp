// The extension module `harness._core`: the three checks, as one object per language.
#include "block.hpp"
#include "guarded.hpp"
#include "ids_type.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace synthesis {

namespace {

struct Language {
    explicit Language(const Description& from) : checks(from), blocks(checks, from.section("cases")) {}

    Checks checks;
    BlockCheck blocks;
};

struct Core {
    PyObject_HEAD
    Language* language;
};

PyObject* new_core(PyTypeObject* type, PyObject* arguments, PyObject* named) {
    static const char* keywords[] = {"description", nullptr};
    PyObject* description;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "O!:Core", const_cast<char**>(keywords), &PyDict_Type,
                                     &description))
        return nullptr;
    return guarded([&] {
        auto language = std::make_unique<Language>(Description(description));
        Owned core(type->tp_alloc(type, 0));
        reinterpret_cast<Core*>(core.get())->language = language.release();
        return core.release();
    });
}

void delete_core(PyObject* self) {
    delete reinterpret_cast<Core*>(self)->language;
    PyTypeObject* type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
}

// None where only Python can do it.
template <class Work>
PyObject* with_language(PyObject* self, Work work) {
    PyObject* found = guarded([&]() -> PyObject* {
        Language& language = *reinterpret_cast<Core*>(self)->language;
        try {
            return work(language);
        } catch (const TooMuch&) {
            return nullptr;
        } catch (const NotPlain&) {
            return nullptr;
        } catch (...) {
            language.checks.forget();
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
    return with_language(self, [&](Language& language) {
        return language.checks.check(arguments[0], arguments[1], arguments[2], threshold);
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
    return with_language(self, [&](Language& language) {
        return language.checks.lines(arguments[0], arguments[1], arguments[2], threshold, labels);
    });
}

PyObject* block(PyObject* self, PyObject* const* arguments, Py_ssize_t size) {
    constexpr const char* usage = "block(content, threshold, shown, planted): content must be bytes";
    if (size != 4 || !PyBytes_Check(arguments[0])) return PyErr_SetString(PyExc_TypeError, usage), nullptr;
    const double threshold = PyFloat_AsDouble(arguments[1]);
    if (threshold == -1.0 && PyErr_Occurred()) return nullptr;
    const size_t shown = PyLong_AsSize_t(arguments[2]);
    if (shown == static_cast<size_t>(-1) && PyErr_Occurred()) return nullptr;
    const std::string_view content(PyBytes_AS_STRING(arguments[0]), PyBytes_GET_SIZE(arguments[0]));
    return with_language(self, [&](Language& language) {
        return language.blocks.check(content, {threshold, shown, arguments[3] == Py_True});
    });
}

PyObject* share(PyObject* self, PyObject*) {
    reinterpret_cast<Core*>(self)->language->checks.share();
    Py_RETURN_NONE;
}

PyObject* searched(PyObject* self, PyObject*) {
    return PyLong_FromSize_t(reinterpret_cast<Core*>(self)->language->checks.searched());
}

PyDoc_STRVAR(check_text,
             "check(user, assistant, names, threshold)\n--\n\n"
             "Status, result and condensed evidence of each check, the latter two as JSON; None where only "
             "Python can do it.");
PyDoc_STRVAR(lines_text,
             "lines(user, assistant, names, threshold, id, expected_failure, rest)\n--\n\n"
             "The statuses, and the lines of a report for a case: its result, which ends with `rest`, and its "
             "failure or None. None where only Python can do it.");
PyDoc_STRVAR(block_text,
             "block(content, threshold, shown, planted)\n--\n\n"
             "Whole lines of a case file: the lines of results, those of failures, the ids, and what is counted of "
             "them. None where Python has to look at them.");
PyDoc_STRVAR(share_text,
             "share()\n--\n\n"
             "Copies of this process that are made from now on tell each other what they find in sentences, so that "
             "each is searched once for all of them.");
PyDoc_STRVAR(searched_text,
             "searched()\n--\n\n"
             "How many sentences have been searched here, those of people and of assistants counted apart; what was "
             "remembered, or told by a copy, is not among them.");
PyDoc_STRVAR(core_text, "Core(description)\n--\n\nThe checks in one language.");

PyMethodDef methods[] = {
    {"check", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(check)), METH_FASTCALL, check_text},
    {"lines", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(lines)), METH_FASTCALL, lines_text},
    {"block", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(block)), METH_FASTCALL, block_text},
    {"share", share, METH_NOARGS, share_text},
    {"searched", searched, METH_NOARGS, searched_text},
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

bool has_type(PyObject* module, const char* name, PyType_Spec& spec) {
    PyObject* made = PyType_FromSpec(&spec);
    if (made == nullptr) return false;
    const int failed = PyModule_AddObjectRef(module, name, made);
    Py_DECREF(made);
    return failed == 0;
}

// A processor older than 2008 has no core: the checkers in Python do what it would.
bool suits_processor() {
#if defined(__POPCNT__) && defined(__x86_64__)
    if (!__builtin_cpu_supports("popcnt")) {
        PyErr_SetString(PyExc_ModuleNotFoundError, "the processor is too old for the compiled core");
        return false;
    }
#endif
    return true;
}

int execute(PyObject* module) {
    if (!suits_processor()) return -1;
    return has_type(module, "Core", type) && has_type(module, "Ids", ids_type) ? 0 : -1;
}

// Blocks up to a few megabytes are taken from what was freed before, and what is free at the end of the heap stays:
// given back to the system, it would be had again page by page, which costs more than to fill it.
PyObject* keep_freed_memory(PyObject*, PyObject*) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    mallopt(M_TRIM_THRESHOLD, 32 << 20);
#endif
    Py_RETURN_NONE;
}

PyDoc_STRVAR(keep_freed_memory_text,
             "keep_freed_memory()\n--\n\n"
             "From now on this process and its copies keep some megabytes of what they free for what comes next.");

PyMethodDef functions[] = {
    {"keep_freed_memory", keep_freed_memory, METH_NOARGS, keep_freed_memory_text},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(execute)},
    {0, nullptr},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_core", nullptr, 0, functions, module_slots, nullptr, nullptr, nullptr,
};

}  // namespace

}  // namespace synthesis

PyMODINIT_FUNC PyInit__core() { return PyModuleDef_Init(&synthesis::definition); }
