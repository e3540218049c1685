// cublasSetVector and its relatives: strided copies between host and device.

#include "call.h"

namespace {

cublasStatus_t status_of(cudaError_t error) {
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

// A vector of n elements inc apart is a matrix of one row and n columns.
cublasStatus_t copy_vector(int n, int elem_size, const void* x, int incx, void* y,
                           int incy, cudaMemcpyKind kind, cudaStream_t stream,
                           bool wait) {
    if (n < 0 || elem_size <= 0 || incx <= 0 || incy <= 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    const auto size = static_cast<size_t>(elem_size);
    const size_t dst_pitch = size * static_cast<size_t>(incy);
    const size_t src_pitch = size * static_cast<size_t>(incx);
    const auto count = static_cast<size_t>(n);
    return status_of(wait ? cudaMemcpy2D(y, dst_pitch, x, src_pitch, size, count, kind)
                          : cudaMemcpy2DAsync(y, dst_pitch, x, src_pitch, size, count,
                                              kind, stream));
}

cublasStatus_t copy_matrix(int rows, int cols, int elem_size, const void* A, int lda,
                           void* B, int ldb, cudaMemcpyKind kind, cudaStream_t stream,
                           bool wait) {
    if (rows < 0 || cols < 0 || elem_size <= 0 || lda < rows || ldb < rows ||
        lda <= 0 || ldb <= 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    const auto size = static_cast<size_t>(elem_size);
    const size_t dst_pitch = size * static_cast<size_t>(ldb);
    const size_t src_pitch = size * static_cast<size_t>(lda);
    const size_t width = size * static_cast<size_t>(rows);
    const auto height = static_cast<size_t>(cols);
    return status_of(wait
                         ? cudaMemcpy2D(B, dst_pitch, A, src_pitch, width, height, kind)
                         : cudaMemcpy2DAsync(B, dst_pitch, A, src_pitch, width, height,
                                             kind, stream));
}

constexpr cudaMemcpyKind kToDevice = cudaMemcpyHostToDevice;
constexpr cudaMemcpyKind kToHost = cudaMemcpyDeviceToHost;

}  // namespace

cublasStatus_t cublasSetVector(int n, int elem_size, const void* x, int incx,
                               void* device_y, int incy) {
    return copy_vector(n, elem_size, x, incx, device_y, incy, kToDevice, nullptr, true);
}

cublasStatus_t cublasGetVector(int n, int elem_size, const void* device_x, int incx,
                               void* y, int incy) {
    return copy_vector(n, elem_size, device_x, incx, y, incy, kToHost, nullptr, true);
}

cublasStatus_t cublasSetMatrix(int rows, int cols, int elem_size, const void* A,
                               int lda, void* device_B, int ldb) {
    return copy_matrix(rows, cols, elem_size, A, lda, device_B, ldb, kToDevice, nullptr,
                       true);
}

cublasStatus_t cublasGetMatrix(int rows, int cols, int elem_size, const void* device_A,
                               int lda, void* B, int ldb) {
    return copy_matrix(rows, cols, elem_size, device_A, lda, B, ldb, kToHost, nullptr,
                       true);
}

cublasStatus_t cublasSetVectorAsync(int n, int elem_size, const void* x, int incx,
                                    void* device_y, int incy, cudaStream_t stream) {
    return copy_vector(n, elem_size, x, incx, device_y, incy, kToDevice, stream, false);
}

cublasStatus_t cublasGetVectorAsync(int n, int elem_size, const void* device_x,
                                    int incx, void* y, int incy, cudaStream_t stream) {
    return copy_vector(n, elem_size, device_x, incx, y, incy, kToHost, stream, false);
}

cublasStatus_t cublasSetMatrixAsync(int rows, int cols, int elem_size, const void* A,
                                    int lda, void* device_B, int ldb,
                                    cudaStream_t stream) {
    return copy_matrix(rows, cols, elem_size, A, lda, device_B, ldb, kToDevice, stream,
                       false);
}

cublasStatus_t cublasGetMatrixAsync(int rows, int cols, int elem_size,
                                    const void* device_A, int lda, void* B, int ldb,
                                    cudaStream_t stream) {
    return copy_matrix(rows, cols, elem_size, device_A, lda, B, ldb, kToHost, stream,
                       false);
}
