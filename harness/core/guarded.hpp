// What is thrown in C++, raised in Python.
#pragma once

#include <new>

#include "description.hpp"

namespace synthesis {

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
    } catch (const TooMuch&) {
        PyErr_SetString(PyExc_ValueError, "a text is too long");
    }
    return nullptr;
}

}  // namespace synthesis
