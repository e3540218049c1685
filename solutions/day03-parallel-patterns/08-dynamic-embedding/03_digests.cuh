// 03_digests.cuh: v3: a thread a key again, but it reads 16 bytes of digests first.
#pragma once

#include "claims.cuh"

// #region v3-launch
static void table_find_v3(const Table& table,
                          const uint64_t* keys,
                          int32_t* slots,
                          int64_t n,
                          cudaStream_t stream) {
    find_kernel<SearchDigests, false>
        <<<wb::grid_size(n, kThreads), kThreads, 0, stream>>>(table, keys, slots, n);
    CUDA_CHECK_LAUNCH();
}

static void table_insert_or_find_v3(const Table& table,
                                    const uint64_t* keys,
                                    const float* initial,
                                    int32_t* slots,
                                    int64_t n,
                                    cudaStream_t stream) {
    tick(table, stream);
    find_kernel<SearchDigests, true>
        <<<wb::grid_size(n, kThreads), kThreads, 0, stream>>>(table, keys, slots, n);
    CUDA_CHECK_LAUNCH();
    launch_claims(table, keys, slots, n, stream);
    write_new_rows(table, slots, initial, n, stream);
}
// #endregion v3-launch
