// Memory is slow, and can be asked for several things at once.
#pragma once

namespace synthesis {

// What is at this address will be wanted soon.
inline void prefetch(const void* address) {
#ifdef __GNUC__
    __builtin_prefetch(address);
#else
    (void)address;
#endif
}

}  // namespace synthesis
