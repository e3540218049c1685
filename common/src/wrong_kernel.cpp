#include <wb/wrong_kernel.h>

#include <stdexcept>
#include <string>

namespace wb {

void refuse_wrong_kernel(const char* name) {
    throw std::logic_error(
        std::string("WB_WRONG_KERNEL names no known-wrong kernel of this chapter: ") +
        (name ? name : "it is not set"));
}

}  // namespace wb
