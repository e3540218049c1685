// Vector routines.

#include <cmath>

#include "blas.h"
#include "call.h"

using namespace simt::cublas;

namespace {

/// The index, from 1, of the first element for which `better(candidate, best)`; 0 if
/// there is none. As in BLAS, a stride that is not positive gives 0.
template <class T, class Better>
int index_of(int n, const T* x, int incx, Better better) {
    if (n < 1 || incx < 1) return 0;
    int best = 0;
    for (int i = 1; i < n; ++i) {
        const T candidate = std::fabs(x[static_cast<size_t>(i) * incx]);
        if (better(candidate, std::fabs(x[static_cast<size_t>(best) * incx]))) best = i;
    }
    return best + 1;
}

}  // namespace

#define SIMT_ROUTINES "level1.inc"
#include "real_types.inc"
