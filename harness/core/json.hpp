// JSON as msgspec writes it, into memory that is used again or handed over as Python's bytes.
#pragma once

#include <cstring>

#include "description.hpp"

namespace synthesis {

class Json {
public:
    Json() = default;
    Json(const Json&) = delete;
    Json& operator=(const Json&) = delete;
    ~Json() { Py_XDECREF(bytes_); }

    void clear();
    std::string_view written() const { return {data_, size_}; }
    // What was written, without copying it; nothing is left here.
    Owned take();

    // As it is.
    void raw(std::string_view bytes) {
        std::memcpy(room(bytes.size()), bytes.data(), bytes.size());
        size_ += bytes.size();
    }
    // A string's inside.
    void inside(View text);
    void text(View text) {
        raw("\"");
        inside(text);
        raw("\"");
    }
    void number(int32_t value);
    // From 0 to 1, rounded to six places.
    void share(double value);
    void truth(bool value) { raw(value ? std::string_view("true") : std::string_view("false")); }

private:
    char* room(size_t bytes) {
        if (capacity_ - size_ < bytes) grow(bytes);
        return data_ + size_;
    }
    void grow(size_t bytes);
    void resize(size_t capacity);

    PyObject* bytes_ = nullptr;
    char* data_ = nullptr;
    size_t size_ = 0;
    size_t capacity_ = 0;
    size_t taken_ = 0;  // the size of what was last taken: the next is likely as large
};

}  // namespace synthesis
