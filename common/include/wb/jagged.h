/// wb/jagged.h: rows of different lengths, one behind the other, as kernels get them.
///
/// A row has as many entries as it likes, none too, and an entry has dim elements. The
/// rows lie in one array without gaps, and offsets say where each begins:
///
///     lengths   3        0   2      1
///     values    a a a        c c    d        [total, dim]
///     offsets   0        3   3      5   6    [num_rows + 1]
///
/// Row r has the entries offsets[r], ..., offsets[r + 1] - 1 of values.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace wb {

/// Offsets in device memory, of 32 or of 64 bits. Owns nothing.
class Offsets {
 public:
    Offsets(const int32_t* offsets) : offsets_(offsets), is_wide_(false) {}
    Offsets(const int64_t* offsets) : offsets_(offsets), is_wide_(true) {}

    bool is_wide() const { return is_wide_; }  ///< 64 bits each
    const int32_t* narrow() const { return static_cast<const int32_t*>(offsets_); }
    const int64_t* wide() const { return static_cast<const int64_t*>(offsets_); }

 private:
    const void* offsets_;
    bool is_wide_;
};

/// The same, to be written.
class OffsetsOut {
 public:
    OffsetsOut(int32_t* offsets) : offsets_(offsets), is_wide_(false) {}
    OffsetsOut(int64_t* offsets) : offsets_(offsets), is_wide_(true) {}

    bool is_wide() const { return is_wide_; }
    int32_t* narrow() const { return static_cast<int32_t*>(offsets_); }
    int64_t* wide() const { return static_cast<int64_t*>(offsets_); }

 private:
    void* offsets_;
    bool is_wide_;
};

/// What a kernel found wrong in lengths or offsets.
enum class JaggedFault : int32_t {
    none = 0,
    first = 1,     ///< the first offset is not 0
    falls = 2,     ///< an offset is smaller than the one before it
    last = 3,      ///< the last offset is not the number of entries
    negative = 4,  ///< a length is negative
    sum = 5,       ///< the lengths up to this one do not fit into an offset
};

/// In which array.
enum class JaggedArray : int32_t { offsets = 0, a_offsets = 1, b_offsets = 2 };

/// A fault that a kernel met, the first one, in device memory: kernels cannot throw.
struct JaggedStatus {
    int32_t fault = 0;  ///< a JaggedFault
    int32_t array = 0;  ///< a JaggedArray
    int64_t place = 0;  ///< in offsets; negative, sum: in lengths
    int64_t value = 0;  ///< what was found there; sum: the sum
    int64_t bound = 0;  ///< what it had to be, or what it had to reach or not to exceed
};

#if defined(__CUDACC__) || defined(SIMT_CPU)
/// Notes a fault for the host, unless there is one already.
__device__ inline void report_fault(JaggedStatus* status, const JaggedStatus& found) {
    if (atomicCAS(&status->fault, 0, found.fault) != 0) return;
    status->array = found.array;
    status->place = found.place;
    status->value = found.value;
    status->bound = found.bound;
}
#endif

/// Owns a JaggedStatus in device memory. Not for two streams at once.
class JaggedCheck {
 public:
    JaggedCheck();
    ~JaggedCheck();
    JaggedCheck(const JaggedCheck&) = delete;
    JaggedCheck& operator=(const JaggedCheck&) = delete;

    /// The device address that kernels are given.
    JaggedStatus* status() const { return status_; }

    /// Waits for the stream. Throws wb::JaggedError, which names the array, the place
    /// and the value, if a kernel found a fault since the last call; then forgets it.
    void check(cudaStream_t stream) const;

 private:
    JaggedStatus* status_ = nullptr;
};

}  // namespace wb
