#include "observer.h"

namespace simt::detail {

constinit Observer* observer = nullptr;

}  // namespace simt::detail
