#include <wb/errors.h>
#include <wb/wrong_kernel.h>

#include <string>

namespace wb {

void refuse_wrong_kernel(const char* name) {
    throw NotSolved(
        std::string("WB_WRONG_KERNEL names no known-wrong kernel of this chapter: ") +
        (name ? name : "it is not set"));
}

}  // namespace wb
