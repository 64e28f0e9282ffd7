// JSON as msgspec writes it, into memory that is used again.
#pragma once

#include <cstring>
#include <memory>

#include "text.hpp"

namespace synthesis {

class Json {
public:
    void clear();
    std::string_view written() const { return {buffer_.get(), size_}; }

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
        return buffer_.get() + size_;
    }
    void grow(size_t bytes);

    std::unique_ptr<char[]> buffer_;
    size_t size_ = 0;
    size_t capacity_ = 0;
};

}  // namespace synthesis
