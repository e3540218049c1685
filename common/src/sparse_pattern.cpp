#include <wb/check.h>
#include <wb/errors.h>
#include <wb/sparse_pattern.h>

#include <string>

#include "device_status.h"

namespace wb {
namespace {

std::string describe(const PatternStatus& status) {
    const std::string row = std::to_string(status.row);
    const std::string place = std::to_string(status.place);
    const std::string value = std::to_string(status.value);
    switch (static_cast<PatternFault>(status.fault)) {
        case PatternFault::offsets:
            return "row " + row + ": its offsets, " + place + " and " + value +
                   ", are no range of the list";
        case PatternFault::index:
            return "row " + row + ": indices[" + place + "] is " + value +
                   ", which does not exist";
        case PatternFault::order:
            return "order[" + row + "] is " + value + ", which is no row of blocks";
        case PatternFault::none:
            break;
    }
    return "unknown fault " + std::to_string(status.fault);
}

}  // namespace

PatternCheck::PatternCheck() {
    CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&status_), sizeof(PatternStatus)));
    CUDA_CHECK(cudaMemset(status_, 0, sizeof(PatternStatus)));
    CUDA_CHECK(cudaDeviceSynchronize());  // other streams do not wait for the memset
}

PatternCheck::~PatternCheck() {
    (void)cudaFree(status_);  // a destructor cannot throw
}

void PatternCheck::check(cudaStream_t stream) const {
    const PatternStatus status = take_status(status_, stream);
    if (status.fault != 0) throw PatternError("sparse pattern: " + describe(status));
}

}  // namespace wb
