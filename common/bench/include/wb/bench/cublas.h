/// wb/bench/cublas.h: cuBLAS as a peer of the ladder.
///
///     #if WB_HAVE_CUBLAS
///     wb::bench::Cublas blas;
///     problem.time("cublasSgemm", "library", [&](cudaStream_t stream) {
///         CUBLAS_CHECK(cublasSgemm(blas.on(stream), …));
///     });
///     #endif
///
/// WB_HAVE_CUBLAS is 1 where the CUDA toolkit has cuBLAS, else 0.
#pragma once

#if WB_HAVE_CUBLAS

#include <wb/check_cublas.h>

namespace wb::bench {

/// A cuBLAS handle, destroyed with its owner.
class Cublas {
 public:
    Cublas() { CUBLAS_CHECK(cublasCreate(&handle_)); }
    ~Cublas() { (void)cublasDestroy(handle_); }
    Cublas(const Cublas&) = delete;
    Cublas& operator=(const Cublas&) = delete;

    /// The handle, whose calls go to the stream from now on.
    cublasHandle_t on(cudaStream_t stream) const {
        CUBLAS_CHECK(cublasSetStream(handle_, stream));
        return handle_;
    }

 private:
    cublasHandle_t handle_ = nullptr;
};

}  // namespace wb::bench

#endif  // WB_HAVE_CUBLAS
