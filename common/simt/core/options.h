/// core/options.h: the settings, read from the environment at first use.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simt/options.h"

namespace simt::detail {

struct Options {
    uint64_t seed;         // SIMT_SEED: 0 = threads and blocks in order
    bool live_streams;     // SIMT_STREAMS=live: work runs beside the host
    uint64_t stream_seed;  // SIMT_STREAMS: 0 = work runs when it is issued
    unsigned workers;      // SIMT_WORKERS: OS threads that run blocks
    size_t stack_bytes;    // SIMT_STACK_KB: of one CUDA thread
    size_t memory_bytes;   // SIMT_MEMORY_MB: all allocations together
    double time_limit;     // SIMT_TIME_LIMIT: seconds without progress; 0 = no limit
    int multiprocessors;   // SIMT_MULTIPROCESSORS: 0 = those of the device model
    int devices;           // SIMT_DEVICES: how many GPUs there are
    size_t shared_bytes;   // SIMT_SHARED_KB: of a block; 0 = as the device model
    size_t l2_bytes;       // SIMT_L2_KB: 0 = the L2 cache of the device model
    int capability;        // SIMT_COMPUTE_CAPABILITY: times 10; 0 = of the device model
    unsigned resident;  // SIMT_RESIDENT_BLOCKS: that have begun and not ended; 0: any
    bool backwards;     // SIMT_BACKWARDS: the last block begins first
    bool poison;        // SIMT_POISON=0: fresh memory is not filled with 0xFF
    bool strict;        // SIMT_STRICT_EXIT: hardware's leniency is a fault
    bool lenient;       // SIMT_LENIENT: no warnings about undefined shuffles
    bool tight;         // SIMT_TIGHT: allocations end exactly at a guard page
    bool allow_host_pointers;  // SIMT_ALLOW_HOST_POINTERS: arguments are not checked
};

/// The settings in force; set_strict() and the like change them.
Options& options();

}  // namespace simt::detail
