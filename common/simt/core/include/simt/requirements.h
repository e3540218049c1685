/// simt/requirements.h: what the head of a kernel asks of its launches, as
/// rewriter/requirements.cpp writes it down.
#pragma once

#include "core.h"

namespace simt::detail {

/// Notes the kernel's __cluster_dims__. Called before main.
bool require_cluster(const void* kernel, dim3 blocks);
/// The kernel's first statement: a fault, if the launch did not know of them.
void expect_cluster(dim3 blocks, SIMT_OWN_SITE);

/// Notes the kernel's __launch_bounds__. Called before main.
///
/// @param min_blocks   on one multiprocessor: a hint for nvcc
/// @param max_cluster  blocks of a cluster; 0: any number
bool require_bounds(const void* kernel,
                    long long max_threads,
                    long long min_blocks = 0,
                    long long max_cluster = 0);
/// The kernel's first statement, where a launch may not know the kernel's address: a
/// fault, if the block has more threads.
void expect_bounds(long long max_threads,
                   long long min_blocks = 0,
                   long long max_cluster = 0);

/// Made once for each kernel that has such a word.
template <class Kernel>
inline const bool kRequired = Kernel::require();

}  // namespace simt::detail
