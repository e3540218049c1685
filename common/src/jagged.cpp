#include <wb/check.h>
#include <wb/errors.h>
#include <wb/jagged.h>

#include <string>

#include "device_status.h"

namespace wb {
namespace {

std::string array_name(const JaggedStatus& status) {
    switch (static_cast<JaggedArray>(status.array)) {
        case JaggedArray::offsets:
            return "offsets";
        case JaggedArray::a_offsets:
            return "a_offsets";
        case JaggedArray::b_offsets:
            return "b_offsets";
    }
    return "array " + std::to_string(status.array);
}

std::string element(const std::string& array, int64_t place) {
    return array + "[" + std::to_string(place) + "]";
}

std::string describe(const JaggedStatus& status) {
    const std::string array = array_name(status);
    const std::string value = std::to_string(status.value);
    const std::string bound = std::to_string(status.bound);
    const std::string offset = element(array, status.place) + " is " + value;
    const std::string length = element("lengths", status.place);
    switch (static_cast<JaggedFault>(status.fault)) {
        case JaggedFault::first:
            return offset + ", but the first offset must be " + bound;
        case JaggedFault::falls:
            return offset + ", but " + element(array, status.place - 1) + " is " +
                   bound + ": offsets must not fall";
        case JaggedFault::last:
            return offset + ", but there are " + bound + " entries";
        case JaggedFault::negative:
            return length + " is " + value + ", but must be >= 0";
        case JaggedFault::sum:
            return length + ": the sum up to here is " + value +
                   ", but an offset holds " + bound + " at most";
        case JaggedFault::none:
            break;
    }
    return "unknown fault " + std::to_string(status.fault);
}

}  // namespace

JaggedCheck::JaggedCheck() {
    CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&status_), sizeof(JaggedStatus)));
    CUDA_CHECK(cudaMemset(status_, 0, sizeof(JaggedStatus)));
    CUDA_CHECK(cudaDeviceSynchronize());  // other streams do not wait for the memset
}

JaggedCheck::~JaggedCheck() {
    (void)cudaFree(status_);  // a destructor cannot throw
}

void JaggedCheck::check(cudaStream_t stream) const {
    const JaggedStatus status = take_status(status_, stream);
    if (status.fault != 0) throw JaggedError("jagged tensor: " + describe(status));
}

}  // namespace wb
