// Names and descriptions of the runtime's errors.

#include "simt/error.h"

namespace {

constexpr const char* kUnrecognized = "unrecognized error code";

}  // namespace

const char* cudaGetErrorName(cudaError_t error) {
    switch (error) {
#define SIMT_CUDA_ERROR(name, number, text) \
    case number:                            \
        return #name;
#include "simt/error_list.inc"
#undef SIMT_CUDA_ERROR
    }
    return kUnrecognized;
}

const char* cudaGetErrorString(cudaError_t error) {
    switch (error) {
#define SIMT_CUDA_ERROR(name, number, text) \
    case number:                            \
        return text;
#include "simt/error_list.inc"
#undef SIMT_CUDA_ERROR
    }
    return kUnrecognized;
}
