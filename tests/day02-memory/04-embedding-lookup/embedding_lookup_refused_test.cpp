// Grades day02-memory/04-embedding-lookup: what all functions refuse.
#include "embedding_lookup.h"

#include "embedding_cases.h"
#include "lookup.h"

using namespace embedding_cases;

TEST_CASE("wrong arguments are refused by name") {
    Grader memory("embedding", "wrong arguments");
    float* d = memory.output<float>("d", {64});
    const int64_t* indices = memory.input("indices", Indices(8));
    unsigned long long* bad = bad_counter(memory);
    const auto refused =
        [](const char* part, const float* table, float* out, const Lookup& lookup) {
            wb::testing::expect_refused("embedding", part, part, [&] {
                embedding(table, out, lookup, nullptr);
            });
        };
    refused("count is -1", d, d + 32, {indices, -1, 4, 2, bad});
    refused("num_rows is -1", d, d + 32, {indices, 4, -1, 2, bad});
    refused("cols is -1", d, d + 32, {indices, 4, 4, -1, bad});
    refused("cols is 1073741825", d, d + 32, {indices, 1, 1, kMaxCols + 1, bad});
    const int64_t many = int64_t{1} << 60;
    refused("num_rows * cols * bytes", d, d + 32, {indices, 4, many, 2, bad});
    refused("entries * cols * bytes", d, d + 32, {indices, many, 4, 2, bad});
    refused("table is a null pointer", nullptr, d, {indices, 4, 4, 2, bad});
    refused("out is a null pointer", d, nullptr, {indices, 4, 4, 2, bad});
    refused("indices is a null pointer", d, d + 32, {nullptr, 4, 4, 2, bad});
    refused("bad is a null pointer", d, d + 32, {indices, 4, 4, 2, nullptr});
    float host[8] = {};
    const int64_t host_indices[4] = {};
    unsigned long long host_bad = 0;
    refused("table is a host pointer", host, d, {indices, 4, 4, 2, bad});
    refused("out is a host pointer", d, host, {indices, 4, 4, 2, bad});
    refused("indices is a host pointer", d, d + 32, {host_indices, 4, 4, 2, bad});
    refused("bad is a host pointer", d, d + 32, {indices, 4, 4, 2, &host_bad});
    auto* odd = reinterpret_cast<float*>(reinterpret_cast<char*>(d) + 2);
    refused("table is not aligned", odd, d + 32, {indices, 4, 4, 2, bad});
    refused("out is not aligned", d, odd, {indices, 4, 4, 2, bad});
    auto* d16 = reinterpret_cast<uint16_t*>(d);
    wb::testing::expect_refused("embedding_u16", "count", "count is -1", [&] {
        embedding_u16(d16, d16 + 32, {indices, -1, 4, 2, bad}, nullptr);
    });
}

TEST_CASE("a table and an output that overlap are refused, neighbours are not") {
    Grader memory("embedding", "overlap");
    float* d = memory.in_out("d", {64}, std::vector<float>(64));
    const Lookup lookup = {
        memory.input("indices", Indices(6)), 6, 4, 2, bad_counter(memory)};
    for (const int64_t distance : {0, 7, -11}) {  // the table has 8 elements, out 12
        wb::testing::expect_refused(
            "embedding",
            "out - table in bytes is " + std::to_string(4 * distance),
            "out - table in bytes is " + std::to_string(4 * distance),
            [&] { embedding(d + 20, d + 20 + distance, lookup, nullptr); });
    }
    for (const int64_t distance : {8, -12})
        embedding(d + 20, d + 20 + distance, lookup, nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
}

TEST_CASE("bags: wrong arguments are refused by name") {
    Grader memory("embedding_bag", "wrong arguments");
    float* d = memory.output<float>("d", {64});
    const int64_t* indices = memory.input("indices", Indices(8));
    unsigned long long* bad = bad_counter(memory);
    const auto refused = [&](const char* part, Lookup lookup, Bags bags) {
        wb::testing::expect_refused("embedding_bag", part, part, [&] {
            embedding_bag(d, d + 32, lookup, bags, nullptr);
        });
    };
    const Lookup good = {indices, 4, 4, 2, bad};
    const Bags two = {indices, 2, Pool::sum, -1};
    refused("count is -1", {indices, -1, 4, 2, bad}, two);
    refused("num_rows is -1", {indices, 4, -1, 2, bad}, two);
    refused("cols is -1", {indices, 4, 4, -1, bad}, two);
    refused("bad is a null pointer", {indices, 4, 4, 2, nullptr}, two);
    refused("num_bags is -1", good, {indices, -1, Pool::sum, -1});
    refused("padding is -2", good, {indices, 2, Pool::sum, -2});
    refused("padding is 4", good, {indices, 2, Pool::sum, 4});
    refused("offsets is a null pointer", good, {nullptr, 2, Pool::sum, -1});
    const int64_t host[4] = {};
    refused("offsets is a host pointer", good, {host, 2, Pool::sum, -1});
    wb::testing::expect_refused(
        "embedding_bag", "overlap", "out - table in bytes is 28", [&] {
            embedding_bag(d, d + 7, good, two, nullptr);  // the table has 8 elements
        });
    auto* half = reinterpret_cast<__half*>(d);
    wb::testing::expect_refused("embedding_bag_fp16", "padding", "padding is 4", [&] {
        embedding_bag_fp16(half, half + 32, good, {indices, 2, Pool::sum, 4}, nullptr);
    });
    auto* brain = reinterpret_cast<__nv_bfloat16*>(d);
    wb::testing::expect_refused("embedding_bag_bf16", "padding", "padding is 4", [&] {
        embedding_bag_bf16(
            brain, brain + 32, good, {indices, 2, Pool::sum, 4}, nullptr);
    });
}

TEST_CASE("backward: wrong arguments are refused by name") {
    Grader memory("embedding_backward", "wrong arguments");
    float* d = memory.output<float>("d", {64});
    const int64_t* indices = memory.input("indices", Indices(8));
    unsigned long long* bad = bad_counter(memory);
    const auto refused = [](const char* part,
                            const float* grad_out,
                            float* grad_table,
                            const Lookup& lookup,
                            int64_t padding) {
        wb::testing::expect_refused("embedding_backward", part, part, [&] {
            embedding_backward(grad_out, grad_table, lookup, padding, nullptr);
        });
    };
    const Lookup good = {indices, 4, 5, 2, bad};
    refused("count is -1", d, d + 32, {indices, -1, 5, 2, bad}, -1);
    refused("num_rows is -1", d, d + 32, {indices, 4, -1, 2, bad}, -1);
    refused("cols is -1", d, d + 32, {indices, 4, 5, -1, bad}, -1);
    const int64_t many = int64_t{1} << 31;
    refused("count is 2147483648", d, d + 32, {indices, many, 5, 2, bad}, -1);
    refused("num_rows is 2147483648", d, d + 32, {indices, 4, many, 2, bad}, -1);
    refused("padding is -2", d, d + 32, good, -2);
    refused("padding is 5", d, d + 32, good, 5);
    refused("grad_out is a null pointer", nullptr, d, good, -1);
    refused("grad_table is a null pointer", d, nullptr, good, -1);
    refused("indices is a null pointer", d, d + 32, {nullptr, 4, 5, 2, bad}, -1);
    refused("bad is a null pointer", d, d + 32, {indices, 4, 5, 2, nullptr}, -1);
    float host[16] = {};
    refused("grad_out is a host pointer", host, d, good, -1);
    refused("grad_table is a host pointer", d, host, good, -1);
    auto* odd = reinterpret_cast<float*>(reinterpret_cast<char*>(d) + 2);
    refused("grad_out is not aligned", odd, d + 32, good, -1);
    refused("grad_table is not aligned", d, odd, good, -1);
    refused(
        "grad_out - grad_table in bytes is 36", d + 9, d, good, -1);  // it has 40 bytes
}
