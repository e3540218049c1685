// One wgmma: accumulators and operands, from its issue to its end.

#include "product.h"

#include <cstring>

#include "operands.h"

namespace simt::detail {
namespace {

using ptx::detail::WgmmaCall;

constexpr unsigned char kPoison = 0xff;

/// Calls f(position in the registers, position in the tile) for a thread's share of a
/// 64 x n accumulator.
template <class F>
void for_each_register(unsigned thread, int n, F f) {
    const unsigned lane = thread % 32;
    const int row = static_cast<int>(thread / 32 * 16 + lane / 4);
    const int column = static_cast<int>(lane % 4 * 2);
    for (int i = 0; i < n / 2; ++i)
        f(i, (row + i / 2 % 2 * 8) * n + i / 4 * 8 + column + i % 2);
}

std::vector<unsigned char> read(const Here& h, const WgmmaEntry& entry, bool a) {
    const WgmmaCall& call = entry.call;
    return read_operand(h.w,
                        MatrixDescriptor::decode(a ? call.a : call.b),
                        a ? 64 : call.n,
                        a ? call.transpose_a : call.transpose_b,
                        a ? "wgmma: matrix a" : "wgmma: matrix b",
                        entry.file,
                        entry.line);
}

}  // namespace

/// The thread's accumulator joins the product's tile, and is poisoned.
void join_tile(const Here& h, WgmmaEntry& entry, float* d) {
    if (entry.arrived == 1) {
        for (const WgmmaEntry& other : h.group.entries) {
            if (&other == &entry || !other.tile) continue;
            const float* const begin = other.tile->registers[h.thread];
            if (begin == d && other.tile->n == entry.call.n) entry.tile = other.tile;
            if (begin != d && begin < d + entry.call.n / 2 &&
                d < begin + other.tile->n / 2)
                hopper_fault(h.w,
                             h.file,
                             h.line,
                             "wgmma: the accumulator overlaps that of the wgmma at %s, "
                             "which is running",
                             place(other.file, other.line).c_str());
        }
        if (!entry.tile) {
            entry.tile = std::make_shared<WgmmaTile>();
            entry.tile->n = entry.call.n;
            entry.tile->values.resize(static_cast<size_t>(64 * entry.call.n));
        }
        ++entry.tile->users;
    }
    WgmmaTile& tile = *entry.tile;
    if (!tile.registers[h.thread]) {
        tile.registers[h.thread] = d;
        for_each_register(h.thread, tile.n, [&](int i, int at) {
            tile.values[static_cast<size_t>(at)] = d[i];
        });
        std::memset(d, kPoison, sizeof(float) * static_cast<size_t>(tile.n / 2));
    }
    if (tile.registers[h.thread] != d)
        hopper_fault(h.w,
                     h.file,
                     h.line,
                     "wgmma: this thread accumulates in other registers than the rest "
                     "of its warpgroup");
}

/// Puts the thread's four registers of a into its rows of the operand.
void join_rows(const Here& h, WgmmaEntry& entry, const uint32_t* a) {
    entry.operands.a.resize(64 * 32);
    const unsigned lane = h.thread % 32;
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned row = h.thread / 32 * 16 + lane / 4 + i % 2 * 8;
        std::memcpy(&entry.operands.a[row * 32 + lane % 4 * 4 + i / 2 * 16], a + i, 4);
    }
}

/// The first thread has issued it: from now on the operands must stay as they are.
void start_product(const Here& h, WgmmaEntry& entry) {
    if (!entry.call.registers) entry.operands.a = read(h, entry, true);
    entry.operands.b = read(h, entry, false);
}

void finish_product(const Here& h, WgmmaEntry& entry) {
    const bool same_a =
        entry.call.registers || entry.operands.a == read(h, entry, true);
    if (!same_a || entry.operands.b != read(h, entry, false))
        hopper_fault(h.w,
                     entry.file,
                     entry.line,
                     "wgmma: matrix %s was overwritten in shared memory while the "
                     "product was running:\n    a stage of a pipeline may be filled "
                     "again when wgmma.wait_group has returned",
                     same_a ? "b" : "a");
    multiply(entry.call.format,
             entry.call.accumulate,
             64,
             entry.call.n,
             entry.operands,
             entry.tile->values.data());
    if (--entry.tile->users == 0) {
        WgmmaTile& tile = *entry.tile;
        for (unsigned t = 0; t < kWarpgroupThreads; ++t) {
            float* const d = tile.registers[t];
            for_each_register(t, tile.n, [&](int i, int at) {
                uint32_t bits;
                std::memcpy(&bits, d + i, 4);
                if (bits != 0xffffffffu)
                    hopper_fault(h.w,
                                 entry.file,
                                 entry.line,
                                 "wgmma: the accumulator was written while the product "
                                 "was running: before\n    wgmma.commit_group and a "
                                 "wgmma.wait_group for it");
                d[i] = tile.values[static_cast<size_t>(at)];
            });
        }
    }
    entry.tile = nullptr;
}

}  // namespace simt::detail
