#include "observer.h"

namespace simt::detail {

constinit Observer* observer = nullptr;

constinit bool RuntimeFlag::watched = false;

void note_product(TensorType type, int m, int n, int k) {
    if (observer) observer->multiplied(type, 2ull * m * n * k);
}

void RuntimeFlag::tell(bool inside) {
    observer->in_runtime(inside);
}

}  // namespace simt::detail
