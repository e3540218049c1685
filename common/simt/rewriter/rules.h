// What nvcc refuses about kernels, device variables and statements of device code.
#pragma once

#include "device_code.h"

namespace rewriter {

/// Refuses kernels by their head: a result, a class around them, `...`, `constexpr`, …
void check_kernels(Source& source, const Structure& structure, const DeviceCode& code);

/// Refuses `__shared__`, `__constant__` and `__device__` where they may not stand, and
/// lets the compiler refuse dynamic initialisation.
void check_memory_words(Source& source,
                        const Structure& structure,
                        const DeviceCode& code);

/// Refuses statements that device code cannot have: exceptions, typeid, arrays of
/// variable length.
void check_statements(Source& source,
                      const Structure& structure,
                      const DeviceCode& code);

/// Refuses lambdas that nvcc refuses.
/// @param extended  --extended-lambda
void check_lambdas(Source& source, const DeviceCode& code, bool extended);

}  // namespace rewriter
