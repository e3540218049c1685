/// simt/options.h: settings that a program can change; the environment sets their
/// defaults (README.md lists the variables).
#pragma once

#include <cstddef>

namespace simt {

/// Strict: threads that returned before a barrier, two different barriers in the
/// branches of one `if`, and a shuffle from a lane outside the mask are faults.
/// Otherwise they give what the hardware gives. Default: SIMT_STRICT_EXIT.
void set_strict(bool on);

/// Tight: an allocation ends exactly (rounded up to 16 bytes) at an inaccessible page.
/// Otherwise allocations are aligned to 256 bytes, as CUDA's are, and a write into the
/// few bytes in between is found at the end of the kernel. Default: SIMT_TIGHT.
void set_tight(bool on);

/// A launch in which nothing moves for so long is abandoned. 0: never.
/// Default: SIMT_TIME_LIMIT, or 30.
void set_time_limit(double seconds);

/// Random, reproducible order of threads and blocks; 0: in order. Multiples of 5 also
/// let others run in front of each atomic operation. Default: SIMT_SEED.
void set_seed(unsigned seed);

/// The GPU has so many multiprocessors; 0: as many as the model of its architecture. A
/// kernel with one block a multiprocessor is tried with few much faster than with 132.
/// Default: SIMT_MULTIPROCESSORS, or 0.
void set_multiprocessors(int count);

/// There are so many GPUs, 1 to 16. Before anything is allocated, or after
/// cudaDeviceReset on each of them. Default: SIMT_DEVICES, or 1.
void set_devices(int count);

/// A block may ask for so many bytes of shared memory, never for more than on the model
/// of its architecture; 0: for as many as there. What a program does on a GPU with less
/// is tried with it. Default: SIMT_SHARED_KB, or 0.
void set_shared_per_block(std::size_t bytes);

/// The GPU says that its L2 cache has so many bytes; 0: as many as the model of its
/// architecture. A launcher that counts what fits into the cache is tried with little
/// data. Default: SIMT_L2_KB, or 0.
void set_l2_bytes(std::size_t bytes);

/// The GPU says that its compute capability is this one, times 10; 0: what kernels are
/// compiled for. They run all the same: whether a launcher refuses a GPU that is too
/// old for them is tried with it. Default: SIMT_COMPUTE_CAPABILITY, or 0.
void set_compute_capability(int times_10);

/// The GPU has room for so many blocks of a launch; the others begin when one of these
/// has ended. 0: blocks that wait for one another make room. A kernel that waits for a
/// block which may not have begun hangs then, and is told so. Not for cooperative
/// launches and clusters. Default: SIMT_RESIDENT_BLOCKS, or 0.
void set_resident_blocks(unsigned count);

/// The last block of a launch begins first, and the first one last. With a seed, it is
/// the seed's order that is turned round. Default: SIMT_BACKWARDS.
void set_backwards(bool on);

}  // namespace simt
