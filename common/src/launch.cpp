#include <wb/launch.h>

#include <stdexcept>
#include <string>

namespace wb {

unsigned grid_size(int64_t work, int block) {
    const int64_t blocks = work > 0 ? ceil_div(work, int64_t{block}) : 0;
    if (blocks < 1 || blocks > INT32_MAX) {
        throw std::length_error("grid_size: " + std::to_string(work) +
                                " items in blocks of " + std::to_string(block) +
                                " need " + std::to_string(blocks) +
                                " blocks; a grid holds 1 to 2147483647 along x");
    }
    return static_cast<unsigned>(blocks);
}

}  // namespace wb
