/// wb/scratch.h: device memory that a launcher needs for a moment.
///
///     wb::Scratch<float> partials(num_blocks, stream);
///     sums_kernel<<<grid, block, 0, stream>>>(a, partials.data(), n);
///     total_kernel<<<1, block, 0, stream>>>(partials.data(), result);
///
/// Memory is taken and given back in the order of the stream: the destructor does not
/// wait, and the memory is not used for anything else before the kernels above have
/// finished. A `__device__` array would do without allocating, but all streams would
/// share it, and two calls at once would ruin each other's sums.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>

#include <cstddef>
#include <cstdint>

namespace wb {
namespace detail {

/// The pool of the current device. CUDA's default pool returns its memory to the system
/// at every synchronisation and has to fetch it anew; this one keeps it.
cudaMemPool_t scratch_pool();

/// A Scratch begins and ends.
void note_scratch(const void* memory, std::size_t bytes);
void forget_scratch(const void* memory);

/// Scratch::note_written().
void note_written(const void* memory, std::size_t bytes, cudaStream_t stream);

}  // namespace detail

/// Whether an address lies in a Scratch that has not ended. While a stream is captured,
/// CUDA does not know the memory that is allocated on it: cudaPointerGetAttributes()
/// takes it for the host's.
bool is_scratch(const void* address);

/// The most bytes that all Scratch of the current device held at one time, since the
/// program began or reset_scratch_peak() was called. Waits for nothing: synchronise
/// first.
std::uint64_t scratch_peak();

/// Forgets the peak so far: it becomes what is held now.
void reset_scratch_peak();

/// `count` elements of device memory, uninitialised, in the order of a stream.
template <class T>
class Scratch {
 public:
    /// @param count   > 0
    /// @param stream  every kernel that uses the memory must be on it
    /// Throws wb::CudaError if there is no memory left.
    Scratch(std::int64_t count, cudaStream_t stream) : stream_(stream) {
        const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
        void* memory = nullptr;
        CUDA_CHECK(
            cudaMallocFromPoolAsync(&memory, bytes, detail::scratch_pool(), stream));
        data_ = static_cast<T*>(memory);
        detail::note_scratch(memory, bytes);
    }
    ~Scratch() {
        detail::forget_scratch(data_);
        (void)cudaFreeAsync(data_, stream_);  // a destructor cannot throw
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    /// The device address, aligned to 256 bytes.
    T* data() const { return data_; }

    /// Tells compute-sanitizer's initcheck that what was launched so far has written
    /// the first `count` elements: the tool does not see what TMA stores. Without the
    /// tool, nothing happens.
    void note_written(std::int64_t count) const {
        detail::note_written(
            data_, static_cast<std::size_t>(count) * sizeof(T), stream_);
    }

 private:
    T* data_ = nullptr;
    cudaStream_t stream_;
};

}  // namespace wb
