#include "observer.h"

namespace simt::detail {

constinit Observer* observer = nullptr;

constinit bool RuntimeFlag::watched = false;

void RuntimeFlag::tell(bool inside) {
    observer->in_runtime(inside);
}

}  // namespace simt::detail
