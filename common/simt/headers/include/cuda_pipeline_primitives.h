/// cuda_pipeline_primitives.h: __pipeline_memcpy_async, __pipeline_commit and
/// __pipeline_wait_prior.
#pragma once
#include "simt/cp_async.h"
#include "simt/fault.h"

/// Starts a copy of 4, 8 or 16 bytes, of which the last `zfill` are zeros instead.
inline void __pipeline_memcpy_async(void* dst_shared,
                                    const void* src_global,
                                    size_t bytes,
                                    size_t zfill = 0,
                                    SIMT_SITE) {
    if ((bytes != 4 && bytes != 8 && bytes != 16) || zfill > bytes) {
        simt::detail::fault(
            719,  // cudaErrorLaunchFailure: CUDA traps
            file,
            line,
            "__pipeline_memcpy_async of %zu bytes, %zu of them zeros: only "
            "4, 8 and 16 bytes can be copied",
            bytes,
            zfill);
    }
    simt::detail::cp_async(
        dst_shared, src_global, int(bytes), int(bytes - zfill), file, line);
}
/// Closes a batch of copies.
inline void __pipeline_commit() {
    simt::detail::cp_async_commit();
}
/// Waits for all but the `prior` newest batches.
inline void __pipeline_wait_prior(size_t prior) {
    simt::detail::cp_async_wait(static_cast<int>(prior < 8 ? prior : 8));
}
