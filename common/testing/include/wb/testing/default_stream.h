/// wb/testing/default_stream.h: a launcher on a default stream.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>
#include <wb/errors.h>
#include <wb/testing/fail.h>

#include <exception>
#include <string>

namespace wb::testing {

/// Calls on each of the default streams, and waits: the null stream, by its other name,
/// and that of the thread. A launcher takes them as any other; that nullptr is one of
/// them makes it no null pointer that is to be refused.
///
/// @param call  of (cudaStream_t): the launcher, or what is queued before it, too
template <class Call>
void on_default_streams(const std::string& implementation, Call call) {
    const cudaStream_t streams[] = {nullptr, cudaStreamLegacy, cudaStreamPerThread};
    for (const cudaStream_t stream : streams) {
        try {
            call(stream);
            CUDA_CHECK(cudaDeviceSynchronize());
        } catch (const NotSolved& unsolved) {
            fail(unsolved);
        } catch (const std::exception& error) {
            fail(Kind::contract,
                 implementation + ", on a default stream: " + error.what(),
                 "a default stream is a stream as any other; the null stream is one");
        }
    }
}

}  // namespace wb::testing
