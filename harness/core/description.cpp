#include "description.hpp"

#include <algorithm>

namespace synthesis {

void read_text(PyObject* string, Text& text) {
    if (!PyUnicode_Check(string)) {
        PyErr_Format(PyExc_TypeError, "a text must be str, not %.100s", Py_TYPE(string)->tp_name);
        throw PythonError{};
    }
#if PY_VERSION_HEX < 0x030C0000
    if (PyUnicode_READY(string) < 0) throw PythonError{};
#endif
    const auto size = PyUnicode_GET_LENGTH(string);
    if (size >= INT32_MAX / 8) throw TooMuch{};
    text.resize(static_cast<size_t>(size));
    switch (PyUnicode_KIND(string)) {
        case PyUnicode_1BYTE_KIND: std::copy_n(PyUnicode_1BYTE_DATA(string), size, text.begin()); break;
        case PyUnicode_2BYTE_KIND: std::copy_n(PyUnicode_2BYTE_DATA(string), size, text.begin()); break;
        default: std::copy_n(PyUnicode_4BYTE_DATA(string), size, text.begin());
    }
}

Text text_of(PyObject* string) {
    Text text;
    read_text(string, text);
    return text;
}

int32_t number_of(PyObject* number) {
    const long value = PyLong_AsLong(number);
    if (value == -1 && PyErr_Occurred()) throw PythonError{};
    if (value < INT16_MIN || value > INT16_MAX) {
        PyErr_SetString(PyExc_ValueError, "a number is too large");
        throw PythonError{};
    }
    return static_cast<int32_t>(value);
}

Items::Items(PyObject* iterable) : sequence_(PySequence_Fast(iterable, "a list of things is needed")) {}

Items::Items(PyObject* iterable, Py_ssize_t size) : Items(iterable) {
    if (this->size() != size) {
        PyErr_Format(PyExc_ValueError, "%zd things are needed, not %zd", size, this->size());
        throw PythonError{};
    }
}

Description::Description(PyObject* dictionary) : dictionary_(dictionary) {
    if (!PyDict_Check(dictionary)) {
        PyErr_SetString(PyExc_TypeError, "a description must be a dict");
        throw PythonError{};
    }
}

PyObject* Description::get(const char* name) const {
    Owned key(PyUnicode_FromString(name));
    PyObject* found = PyDict_GetItemWithError(dictionary_, key.get());
    if (found == nullptr) {
        if (!PyErr_Occurred()) PyErr_SetObject(PyExc_KeyError, key.get());
        throw PythonError{};
    }
    return found;
}

double Description::real(const char* name) const {
    const double value = PyFloat_AsDouble(get(name));
    if (value == -1.0 && PyErr_Occurred()) throw PythonError{};
    return value;
}

std::vector<Text> Description::texts(const char* name) const {
    Items items(get(name));
    std::vector<Text> found;
    for (Py_ssize_t at = 0; at < items.size(); ++at) found.push_back(text_of(items[at]));
    return found;
}

std::vector<std::pair<Text, PyObject*>> Description::pairs() const {
    std::vector<std::pair<Text, PyObject*>> found;
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(dictionary_, &at, &key, &value)) found.emplace_back(text_of(key), value);
    return found;
}

}  // namespace synthesis
