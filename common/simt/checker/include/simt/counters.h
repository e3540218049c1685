/// simt/counters.h: what a kernel cost the memory system, for tests that set goals.
///
///     simt::check::begin_section("goal");
///     launch_transpose(...);
///     const simt::check::Counters c = simt::check::counters("transpose");
///     CHECK(c.global_store.per_request() <= 4);  // sectors: every byte is used
///     CHECK(c.shared_load.ways() == 1);          // no bank conflicts
///     simt::check::end_section();
///
/// Only a program built with simt-c++ --check=count counts, and not with
/// SIMT_CHECK_COUNT=0 in its environment; elsewhere all is 0 and counting_accesses() is
/// false. The comments give the names of Nsight Compute's metrics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace simt::check {

/// Accesses to global memory: l1tex__t_requests_pipe_lsu_mem_global_op_{ld,st,atom,red}
/// and l1tex__t_sectors_pipe_lsu_mem_global_op_{ld,st,atom,red}.
struct GlobalCounters {
    uint64_t requests = 0;       // instructions of warps
    uint64_t lanes = 0;          // that took part, over all requests
    uint64_t sectors = 0;        // of 32 bytes, over all requests
    uint64_t ideal_sectors = 0;  // the least that hold the bytes wanted

    /// Sectors per request: 4 if 32 lanes want 32 neighbouring floats.
    double per_request() const { return requests ? double(sectors) / requests : 0; }
    /// Part of the bytes moved that was wanted, at most 1.
    double efficiency() const { return sectors ? double(ideal_sectors) / sectors : 1; }
};

/// Accesses to shared memory: smsp__inst_executed_op_shared_{ld,st} and
/// l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{ld,st}; the wavefronts beyond the
/// ideal ones are l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{ld,st}.
struct SharedCounters {
    uint64_t requests = 0;
    uint64_t lanes = 0;
    uint64_t wavefronts = 0;
    uint64_t ideal_wavefronts = 0;
    uint64_t worst_ways = 0;  // of any request: how many words one bank had to give

    /// How many times slower bank conflicts make the accesses on average: 1 is best.
    double ways() const {
        return ideal_wavefronts ? double(wavefronts) / ideal_wavefronts : 1;
    }
    /// Wavefronts that bank conflicts add.
    uint64_t conflicts() const { return wavefronts - ideal_wavefronts; }
};

/// Everything counted for a kernel.
struct Counters {
    uint64_t launches = 0;
    uint64_t warps = 0;
    uint64_t barriers = 0;  // passed by whole blocks
    uint64_t shuffles = 0;  // of warps
    /// Of these, those of a warp that had products (wgmma) in flight: so a softmax that
    /// runs beneath its warpgroup's own products can be told from one that does not.
    uint64_t shuffles_beside_products = 0;
    /// Products and sums of tensor cores, whatever the type, each counted as one:
    /// sm__ops_path_tensor_src_*, over all types.
    uint64_t tensor_flop = 0;

    GlobalCounters global_load, global_store, global_atomic;
    GlobalCounters async_load;  // cp.async: ..._global_op_ldgsts
    SharedCounters shared_load, shared_store, shared_atomic;

    /// Atomics: the most lanes of a request that met at one address.
    uint64_t worst_contention = 0;
    /// Lanes that are active in an instruction, on average, by basic blocks:
    /// smsp__thread_inst_executed_per_inst_executed.ratio, for the kernel's own lines.
    double average_lanes = 0;

    uint64_t bytes_requested = 0;  // of global memory, lane by lane
    uint64_t bytes_moved = 0;      // 32 for each sector of each request
    uint64_t bytes_read = 0;       // 32 for each sector that was read in a launch
    uint64_t bytes_written = 0;    // or written: the least that can be moved
};

}  // namespace simt::check

// Defined by the checker. Weak elsewhere: null in a program without it.
#ifdef SIMT_CHECK_COUNT
#define SIMT_COUNTER
#else
#define SIMT_COUNTER [[gnu::weak]]
#endif
extern "C" {
SIMT_COUNTER bool simt_check_start_counting();
SIMT_COUNTER bool simt_check_counting();
SIMT_COUNTER void simt_check_counters(const char* kernel,
                                      size_t length,
                                      simt::check::Counters* counters);
}
#undef SIMT_COUNTER

namespace simt::check {

/// True in a program that counts.
inline bool counting_accesses() {
    return &simt_check_counting != nullptr && simt_check_counting();
}

/// What the kernel's launches in the current section have cost (in the whole program if
/// no section has begun). `kernel` is the name in the source; it stands for all
/// instances of a template, unless it names one as the launch does: "reduce<256>"; ""
/// stands for all kernels.
inline Counters counters(std::string_view kernel) {
    Counters c;
    if (counting_accesses()) simt_check_counters(kernel.data(), kernel.size(), &c);
    return c;
}

#ifdef SIMT_CHECK_COUNT
// Every file compiled with --check=count includes this: counting begins before main.
inline const bool counts = simt_check_start_counting();
#endif

}  // namespace simt::check
