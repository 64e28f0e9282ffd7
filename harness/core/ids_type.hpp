// `Ids` as a Python type.
#pragma once

#include "text.hpp"

namespace synthesis {

extern PyType_Spec ids_type;

}  // namespace synthesis
