// Wrong arguments of WMMA.
#include <mma.h>

using namespace nvcuda;

__global__ void k(const half* a, float* c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    // says: no instance of function "load_matrix_sync" matches the argument types (frag
    wmma::load_matrix_sync(fa, a);
    // says: no instance of function "load_matrix_sync"
    wmma::load_matrix_sync(fa, c, 16);
    // says: no instance of function "fill_fragment"
    wmma::fill_fragment(fc);
    wmma::mma_sync(fc, fa, fa, fc);  // says: no instance of function "mma_sync"
    // says: no instance of function "store_matrix_sync"
    wmma::store_matrix_sync(c, fc, 16);
    // says: wmma has no fragment of this shape and element type
    wmma::fragment<wmma::matrix_b, 16, 16, 17, half, wmma::row_major> fb;
}
