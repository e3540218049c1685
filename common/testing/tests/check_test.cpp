#include <wb/check.h>
#include <wb/errors.h>

#include "support.h"

using wb::testing::contains;

namespace {

/// The message of the error that a call throws; "" if it throws none.
template <class Call>
std::string message_of(Call call) {
    try {
        call();
    } catch (const wb::CudaError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("check: success throws nothing, and the expression is evaluated once") {
    int calls = 0;
    const auto succeed = [&] {
        ++calls;
        return cudaSuccess;
    };
    CHECK_NOTHROW([&] { CUDA_CHECK(succeed()); }());
    CHECK(calls == 1);
}

TEST_CASE("check: a failure names the expression, the error, the file and the line") {
    const int line = __LINE__ + 1;
    const auto text = message_of([] { CUDA_CHECK(cudaSetDevice(-5)); });
    CHECK_THAT(text, contains("`cudaSetDevice(-5)` failed"));
    CHECK_THAT(text, contains("cudaErrorInvalidDevice"));
    CHECK_THAT(text, contains(cudaGetErrorString(cudaErrorInvalidDevice)));
    CHECK_THAT(text, contains("check_test.cpp:" + std::to_string(line)));
}

TEST_CASE("check: the exception carries the code") {
    try {
        CUDA_CHECK(cudaErrorInvalidValue);
        FAIL("nothing was thrown");
    } catch (const wb::CudaError& error) {
        CHECK(error.code() == cudaErrorInvalidValue);
    }
}

TEST_CASE("check: a reported error is not reported again by a later check") {
    CHECK_THROWS_AS([] { CUDA_CHECK(cudaSetDevice(-5)); }(), wb::CudaError);
    CHECK_NOTHROW([] { CUDA_CHECK_LAUNCH(); }());
}

TEST_CASE("check: an error that nobody looked at is found by the next launch check") {
    (void)cudaSetDevice(-5);
    CHECK_THAT(message_of([] { CUDA_CHECK_LAUNCH(); }), contains("kernel launch"));
    CHECK_NOTHROW([] { CUDA_CHECK_LAUNCH(); }());
}

TEST_CASE("check: the macro is one statement, also between if and else") {
    bool other = false;
    if (other)
        CUDA_CHECK(cudaErrorInvalidValue);
    else
        other = true;
    CHECK(other);
}
