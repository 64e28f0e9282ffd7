// What stands in quotation marks is someone else's: blanked out, so that only the speaker's words count.
#pragma once

#include "text.hpp"

namespace synthesis {

// Writes to `own` the folded text with its quotations blanked out letter for letter, and nothing where there
// are none or the whole text is one. Nothing before `from` opens a quotation.
void mask_quotations(View text, int32_t from, Text& own);

}  // namespace synthesis
