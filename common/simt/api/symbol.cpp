// __device__ and __constant__ variables: in the simulator they are ordinary variables,
// which the host reaches, as in CUDA, only through these functions.

#include "call.h"
#include "copy.h"
#include "pointers.h"
#include "stream.h"

namespace simt::detail {
namespace {

cudaError_t check_symbol(const Symbol& symbol) {
    if (in_static_storage(symbol.address)) return cudaSuccess;
    hint(
        "%p is no __device__ or __constant__ variable: pass the variable itself, not "
        "its "
        "address and not a copy",
        symbol.address);
    return cudaErrorInvalidSymbol;
}

bool in_bounds(const Symbol& symbol, size_t bytes, size_t offset, const char* call) {
    size_t end = 0;
    const bool overflow = __builtin_add_overflow(bytes, offset, &end);
    if (symbol.size == 0 || (!overflow && end <= symbol.size)) return true;
    hint("%s: %zu bytes at offset %zu do not fit into the variable's %zu bytes", call,
         bytes, offset, symbol.size);
    return false;
}

cudaError_t issue(const CopyOperation& copy, cudaStream_t stream, bool synchronous) {
    if (synchronous) {
        if (const cudaError_t error = check_stream(stream)) return error;
        if (const cudaError_t error = refuse_during_capture()) return error;
    }
    if (const cudaError_t error = submit(stream, copy)) return error;
    return synchronous ? finish_stream(*find_stream(stream)) : cudaSuccess;
}

void note(const Symbol& symbol) {
    if (symbol.size > 0) note_symbol(symbol.address, symbol.size);
}

}  // namespace

cudaError_t copy_to_symbol(Symbol symbol, const void* src, size_t bytes, size_t offset,
                           cudaMemcpyKind kind, cudaStream_t stream, bool synchronous) {
    constexpr const char* kCall = "cudaMemcpyToSymbol";
    return api_call([&] {
        if (const cudaError_t error = check_symbol(symbol)) return error;
        if (!in_bounds(symbol, bytes, offset, kCall)) return cudaErrorInvalidValue;
        if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost)
            return cudaErrorInvalidMemcpyDirection;
        note(symbol);
        // An extern array's size is not known, so that its end cannot be checked.
        if (symbol.size == 0) kind = cudaMemcpyDefault;
        char* dst = static_cast<char*>(symbol.address) + offset;
        return issue(CopyOperation::linear(kCall, dst, src, bytes, kind), stream,
                     synchronous);
    });
}

cudaError_t copy_from_symbol(void* dst, Symbol symbol, size_t bytes, size_t offset,
                             cudaMemcpyKind kind, cudaStream_t stream,
                             bool synchronous) {
    constexpr const char* kCall = "cudaMemcpyFromSymbol";
    return api_call([&] {
        if (const cudaError_t error = check_symbol(symbol)) return error;
        if (!in_bounds(symbol, bytes, offset, kCall)) return cudaErrorInvalidValue;
        if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice)
            return cudaErrorInvalidMemcpyDirection;
        note(symbol);
        if (symbol.size == 0) kind = cudaMemcpyDefault;
        const char* src = static_cast<const char*>(symbol.address) + offset;
        return issue(CopyOperation::linear(kCall, dst, src, bytes, kind), stream,
                     synchronous);
    });
}

cudaError_t symbol_address(void** pointer, Symbol symbol) {
    return api_call([&] {
        if (!pointer) return cudaErrorInvalidValue;
        if (const cudaError_t error = check_symbol(symbol)) return error;
        note(symbol);
        *pointer = symbol.address;
        return cudaSuccess;
    });
}

cudaError_t symbol_size(size_t* bytes, Symbol symbol) {
    return api_call([&] {
        if (!bytes) return cudaErrorInvalidValue;
        if (const cudaError_t error = check_symbol(symbol)) return error;
        if (symbol.size == 0) {
            hint("cudaGetSymbolSize: the size of an extern array is not known");
            return cudaErrorNotSupported;
        }
        *bytes = symbol.size;
        return cudaSuccess;
    });
}

}  // namespace simt::detail
