/// wb/testing/attention_arguments.h: shapes that no function of attention takes.
#pragma once

#include <wb/attention.h>
#include <wb/describe.h>
#include <wb/testing/grader.h>

#include <cstdint>
#include <limits>
#include <string>

namespace wb::testing {

/// Each number of a shape is wrong in each way that wb::check_shape() refuses. So it is
/// in a shape without rows: that there is nothing to do makes it no right one.
/// @param right   of one head or more
/// @param groups  whether query heads may share keys
/// @param call    is given a shape, and calls the function with right pointers
template <class Call>
void expect_shapes_refused(const std::string& exercise,
                           const AttentionShape& right,
                           bool groups,
                           Call call) {
    constexpr int64_t kTooLong = int64_t{1} << 31;
    constexpr int64_t kInt = int64_t{1} << 32;  // a size cut to 32 bits would be right
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const auto refused = [&](const std::string& part, auto change) {
        for (const bool no_queries : {false, true})
            for (const bool no_batch : {false, true}) {
                AttentionShape shape = right;
                if (no_queries) shape.queries = 0;
                if (no_batch) shape.batch = 0;
                change(shape);
                expect_refused(exercise, describe(shape), part, [&] { call(shape); });
            }
    };
    refused("shape.batch is -1", [](auto& s) { s.batch = -1; });
    refused("shape.query_heads is -2", [](auto& s) { s.query_heads = -2; });
    refused("shape.kv_heads is -1", [](auto& s) { s.kv_heads = -1; });
    refused("shape.query_heads is ", [](auto& s) { s.kv_heads = 0; });
    refused("heads is ", [](auto& s) { s.kv_heads += kInt; });
    refused("shape.query_heads is ", [](auto& s) { s.query_heads += s.kv_heads + 1; });
    refused("shape.queries is -4", [](auto& s) { s.queries = -4; });
    refused("shape.queries is 2147483648", [](auto& s) { s.queries = kTooLong; });
    refused("shape.queries is 4294967300", [](auto& s) { s.queries = kInt + 4; });
    refused("shape.keys is -4", [](auto& s) { s.keys = -4; });
    refused("shape.keys is 2147483648", [](auto& s) { s.keys = kTooLong; });
    refused("shape.keys is 4294967300", [](auto& s) { s.keys = kInt + 4; });
    for (const int64_t head_dim :
         {int64_t{0}, int64_t{48}, int64_t{-64}, int64_t{1024}, kInt + right.head_dim})
        refused("shape.head_dim is " + std::to_string(head_dim),
                [&](auto& s) { s.head_dim = head_dim; });
    refused("shape.scale is ", [](auto& s) { s.scale = kInfinity; });
    refused("shape.scale is ", [](auto& s) { s.scale = -kInfinity; });
    refused("shape.scale is ",
            [](auto& s) { s.scale = std::numeric_limits<float>::quiet_NaN(); });
    // Times log2(e), it would be infinite.
    refused("shape.scale is -2e+38, but must be from -1.70141e+38",
            [](auto& s) { s.scale = -2e38f; });
    if (!groups) refused("shape.kv_heads is ", [](auto& s) { s.query_heads *= 2; });
}

}  // namespace wb::testing
