// What Python hands over about a language, read with all that can be wrong with it.
#pragma once

#include <utility>

#include "text.hpp"

namespace synthesis {

// An error that Python has been told of already.
struct PythonError {};

// A reference of our own to a Python object.
class Owned {
public:
    explicit Owned(PyObject* object) : object_(object) {
        if (object == nullptr) throw PythonError{};
    }
    Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    ~Owned() { Py_XDECREF(object_); }

    PyObject* get() const { return object_; }
    PyObject* release() { return std::exchange(object_, nullptr); }

private:
    PyObject* object_;
};

// The characters of a Python string, into memory that is used again.
void read_text(PyObject* string, Text& text);
Text text_of(PyObject* string);
int32_t number_of(PyObject* number);

// Any iterable as its items, which live as long as this.
class Items {
public:
    explicit Items(PyObject* iterable);
    Items(PyObject* iterable, Py_ssize_t size);

    Py_ssize_t size() const { return PySequence_Fast_GET_SIZE(sequence_.get()); }
    PyObject* operator[](Py_ssize_t at) const { return PySequence_Fast_GET_ITEM(sequence_.get(), at); }

private:
    Owned sequence_;
};

// A dictionary, borrowed from the caller, whose keys are names.
class Description {
public:
    explicit Description(PyObject* dictionary);

    PyObject* get(const char* name) const;
    Description section(const char* name) const { return Description(get(name)); }
    int32_t number(const char* name) const { return number_of(get(name)); }
    double real(const char* name) const;
    Text text(const char* name) const { return text_of(get(name)); }
    std::vector<Text> texts(const char* name) const;
    // Each key with its value.
    std::vector<std::pair<Text, PyObject*>> pairs() const;

private:
    PyObject* dictionary_;
};

}  // namespace synthesis
