/// async/hopper/warpgroup.h: the instructions that a warpgroup's 128 threads execute
/// together, and the products in flight.
///
/// The threads run one after another, so each goes through the same sequence of
/// instructions at its own time. The first one writes an instruction down, the others
/// are compared with it; all meet at the waits.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "core/thread_queue.h"
#include "simt/hopper/wgmma.h"

namespace simt::detail {

constexpr unsigned kWarpgroupThreads = 128;

/// An accumulator in flight: 64 x n numbers that the threads will get.
struct WgmmaTile {
    int n = 0;
    unsigned users = 0;                                 // products that are not done
    std::array<float*, kWarpgroupThreads> registers{};  // of each thread
    std::vector<float> values;                          // row-major; or bits of int32_t
};

/// A product's operands as they lie in shared memory: rows of 32 bytes.
struct WgmmaOperands {
    std::vector<unsigned char> a;  // 64 rows
    std::vector<unsigned char> b;  // n columns of K elements each
};

struct WgmmaEntry {
    enum class Kind : uint8_t { fence, product, commit, wait, registers };

    Kind kind;
    int number;  // of a wait: pending; of setmaxnreg: registers
    ptx::detail::WgmmaCall call;
    const char* file;
    int line;
    unsigned arrived = 0;
    uint64_t group = 0;
    std::shared_ptr<WgmmaTile> tile;
    WgmmaOperands operands;  // as they were at the issue
    ThreadList waiting;
    /// For the checker: the product's number, see Observer::product_begins(), and of
    /// each thread the one under which it has told what it reads.
    uint32_t product = 0;
    std::array<uint32_t, kWarpgroupThreads> told{};
    /// When each thread has issued it, see Observer::moment().
    std::array<uint32_t, kWarpgroupThreads> issued{};
};

struct Warpgroup {
    std::deque<WgmmaEntry> entries;  // that not all threads have passed, or in flight
    uint64_t first = 0;              // number of entries.front()
    uint64_t groups = 0;             // committed
    uint32_t done = 0;               // number of the last product waited for
    /// A product is the whole warpgroup's. Once it is over, all threads have issued it,
    /// and have read before what they hold in registers for it: until when, by the last
    /// one with an operand in registers.
    std::array<uint32_t, kWarpgroupThreads> read_until{};
    std::array<uint64_t, kWarpgroupThreads> position{};  // next entry of each thread
    std::array<bool, kWarpgroupThreads> fenced{};

    /// A product that has not been waited for, or null.
    const WgmmaEntry* running() const {
        for (const WgmmaEntry& entry : entries)
            if (entry.kind == WgmmaEntry::Kind::product && entry.tile) return &entry;
        return nullptr;
    }
};

}  // namespace simt::detail
