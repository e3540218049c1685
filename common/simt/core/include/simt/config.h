/// simt/config.h: a launch as the core sees it: a shape, and what each thread calls.
#pragma once

#include "simt/core.h"

namespace simt {

/// Shape and place of a launch: what stands between <<< and >>>.
struct Config {
    dim3 grid;
    dim3 block;
    size_t smem;
    cudaStream_t stream;
    const char* file;
    int line;
    bool cooperative = false;  // all blocks resident at once, so that grid.sync() works
    dim3 cluster = dim3(0);    // blocks of a cluster; x = 0: what the kernel says
    bool programmatic = false;  // it may begin before the launch before it has ended
    Config(dim3 grid_,
           dim3 block_,
           size_t smem_ = 0,
           cudaStream_t stream_ = nullptr,
           const char* file_ = __builtin_FILE(),
           int line_ = __builtin_LINE())
        : grid(grid_),
          block(block_),
          smem(smem_),
          stream(stream_),
          file(file_),
          line(line_) {}
};

namespace detail {

/// Ends the running thread, whose kernel has returned, and begins the next one of its
/// row: true if this was so simple that the kernel can be called again at once. Else
/// the scheduler does both.
bool begin_next_in_row();

/// A kernel with its arguments, ready to be called once for each thread.
struct Body {
    const char* name;
    const void* address;  // of the kernel; nullptr if unknown
    // Calls it for the running thread, and again as long as begin_next_in_row().
    void (*call)(const void* context);
    const void* context;
    size_t context_size;
    const void* (*copy)(const void* context);  // to keep it for later
    void (*destroy)(const void* context);      // a copy
    const void* const*
        pointers;  // [pointer_count]: the arguments, null for non-pointers
    size_t pointer_count;
};

}  // namespace detail
}  // namespace simt
