#pragma once
// What every routine of cuBLAS does around its arithmetic: checks of the handle and the
// arguments, reading of scalars, and its place in the stream.

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include "cublas_v2.h"

/// What a handle stands for.
struct cublasContext {
    cudaStream_t stream = nullptr;
    cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
    cublasAtomicsMode_t atomics_mode = CUBLAS_ATOMICS_NOT_ALLOWED;
    cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
};

namespace simt::cublas {

bool is_handle(cublasHandle_t handle);

/// A scalar argument: in host mode read when the routine is called, in device mode when
/// it runs, as cuBLAS does.
template <class T>
class Scalar {
 public:
    Scalar() = default;
    Scalar(const T* pointer, bool in_device)
        : value_(in_device ? T() : *pointer), device_(in_device ? pointer : nullptr) {}
    T operator()() const { return device_ ? *device_ : value_; }

 private:
    T value_{};
    const T* device_ = nullptr;
};

/// One call of a routine. The first check that fails decides its status.
class Call {
 public:
    Call(cublasHandle_t handle, const char* name);
    /// A call that names its stream and where its scalars are.
    Call(cudaStream_t stream, cublasPointerMode_t mode, const char* name);

    /// Refuses negative sizes.
    void sizes(std::initializer_list<int> values);
    /// Refuses what is not an enumerator.
    void operation(cublasOperation_t value);
    void fill_mode(cublasFillMode_t value);
    void side(cublasSideMode_t value);
    void diagonal(cublasDiagType_t value);

    /// Refuses a vector that is not in device memory. What is not const is written.
    template <class T>
    void vector(T* x, int n, int inc, const char* name) {
        const auto step = static_cast<size_t>(inc < 0 ? -inc : inc);
        const size_t count = n > 0 ? static_cast<size_t>(n - 1) * step + 1 : 0;
        memory(x, count * sizeof(T), name);
        if constexpr (!std::is_const_v<T>) writes(x, sizeof(T), n, step * sizeof(T));
    }
    /// Refuses a column-major matrix that is not in device memory, or whose columns
    /// overlap. What is not const is written.
    template <class T>
    void matrix(T* A, int rows, int cols, int ld, const char* name) {
        matrix(A, rows, cols, ld, sizeof(T), name);
        if constexpr (!std::is_const_v<T>) writes_matrix(A, rows, cols, ld, sizeof(T));
    }
    void matrix(const void* A, int rows, int cols, int ld, size_t element,
                const char* name);
    void memory(const void* pointer, size_t bytes, const char* name);
    /// Says that the routine writes a column-major matrix.
    void writes_matrix(void* A, int rows, int cols, int ld, size_t element) {
        writes(A, static_cast<size_t>(std::max(0, rows)) * element, cols,
               static_cast<size_t>(std::max(0, ld)) * element);
    }

    /// A scalar where the pointer mode says.
    template <class T>
    Scalar<T> scalar(const T* pointer, const char* name) {
        if (!place(pointer, sizeof(T), name)) return {};
        return {pointer, mode_ == CUBLAS_POINTER_MODE_DEVICE};
    }
    /// Refuses a place for a result that is not where the pointer mode says.
    template <class T>
    void result(T* pointer, const char* name) {
        if (place(pointer, sizeof(T), name)) writes(pointer, sizeof(T), 1, 0);
    }
    /// Stops with a status if nothing has failed before.
    void fail(cublasStatus_t status);
    bool ok() const { return status_ == CUBLAS_STATUS_SUCCESS; }

    /// Runs the work in the handle's stream, or records it while that is captured.
    template <class Work>
    cublasStatus_t run(Work work) {
        if (!ok()) return status_;
        const bool now = begin();
        if (!ok()) return status_;
        if (now) {
            work();
            tell(written_);
        } else {
            record([work, written = written_] {
                work();
                tell(written);
            });
        }
        return CUBLAS_STATUS_SUCCESS;
    }

 private:
    /// Rows of `bytes`, `pitch` apart.
    struct Rows {
        char* begin;
        size_t bytes, count, pitch;
    };
    /// Notes what the routine will have written. The checker cannot see it: the CPU's
    /// library is not compiled for it.
    void writes(void* begin, size_t bytes, int count, size_t pitch);
    static void tell(const std::vector<Rows>& written);

    bool place(const void* pointer, size_t bytes, const char* name);
    bool begin();
    void record(std::function<void()> work);

    cudaStream_t stream_ = nullptr;
    const char* name_;
    cublasPointerMode_t mode_ = CUBLAS_POINTER_MODE_HOST;
    cublasStatus_t status_ = CUBLAS_STATUS_SUCCESS;
    std::vector<Rows> written_;
};

/// Rows of op(A) that A of m x k has in memory.
inline int stored_rows(cublasOperation_t op, int rows, int cols) {
    return op == CUBLAS_OP_N ? rows : cols;
}
inline int stored_cols(cublasOperation_t op, int rows, int cols) {
    return op == CUBLAS_OP_N ? cols : rows;
}

}  // namespace simt::cublas
