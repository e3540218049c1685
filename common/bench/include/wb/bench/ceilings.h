/// wb/bench/ceilings.h: what this GPU can do at most, measured, not read off a
/// datasheet.
#pragma once

#include <wb/bench/timer.h>

#include <cstddef>
#include <map>
#include <string>

namespace wb::bench {

/// What bounds a kernel. Bandwidths count bytes read plus bytes written; the memory of
/// a GPU turns around between reads and writes, so each mixture has a ceiling of its
/// own.
enum class Ceiling {
    read,          ///< a sum: everything is read, nothing is written
    write,         ///< a fill
    copy,          ///< one read, one write
    read2_write1,  ///< c = a + b
    fp32,          ///< matrix product: float, no tensor cores
    tf32,          ///< matrix product: float rounded to TF32, tensor cores
    fp16,          ///< matrix product: half, sums in float, tensor cores
    bf16           ///< matrix product: bfloat16, sums in float, tensor cores
};

/// "2 reads + 1 write".
std::string name_of(Ceiling ceiling);

/// Whether the ceiling counts floating-point operations instead of bytes.
bool is_compute(Ceiling ceiling);

/// "GB/s" (10^9 bytes) or "TFLOP/s" (10^12 operations).
const char* unit_of(Ceiling ceiling);

/// Measures each ceiling once, when it is first asked for.
class Ceilings {
 public:
    /// @param timer        outlives this
    /// @param total_bytes  moved by one launch; as many as the largest problem moves,
    ///                     or that would beat its ceiling: the launch, and the
    ///                     write-back of what the flush left, weigh less on more bytes
    Ceilings(Timer& timer, std::size_t total_bytes)
        : timer_(timer), total_bytes_(total_bytes) {}

    /// In unit_of(ceiling); 0 if this program cannot measure it (no cuBLAS).
    double get(Ceiling ceiling);

    /// Takes values that were measured before, so that get() does not measure these.
    void take(const std::map<Ceiling, double>& values) {
        measured_.insert(values.begin(), values.end());
    }

    /// Those that have been measured.
    const std::map<Ceiling, double>& measured() const { return measured_; }

 private:
    double bandwidth(Ceiling ceiling);

    Timer& timer_;
    std::size_t total_bytes_;
    std::map<Ceiling, double> measured_;
};

/// What the bandwidths are measured on: more bytes than the largest problem of the
/// course moves, but never more than half of the free memory.
std::size_t ceiling_bytes();

/// TFLOP/s of cuBLAS on a large matrix product of random numbers; 0 without cuBLAS.
double measure_matrix_product(Ceiling ceiling, Timer& timer);

}  // namespace wb::bench
