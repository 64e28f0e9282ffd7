// Strings as JSON has them, read into code points.
#pragma once

#include "text.hpp"

namespace synthesis {

// Something in a case file that is not plainly right: Python reads it, and says what is wrong if anything is.
struct NotPlain {};

// What stands between two quotation marks.
void read_string(std::string_view inside, Text& text);

}  // namespace synthesis
