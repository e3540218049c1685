// Tests wb/attention.h, the reference and the bounds that day 6 is graded with.
#include <wb/attention.h>
#include <wb/errors.h>
#include <wb/head_dim.h>
#include <wb/reference/attention.h>
#include <wb/testing/attention.h>
#include <wb/testing/attention_grade.h>
#include <wb/testing/catch.h>

#include <cmath>
#include <limits>
#include <string>

using wb::AttentionShape;
using wb::testing::plain_attention;

TEST_CASE("attention: causal rows are aligned to the last key") {
    const auto visible = [](int queries, int keys, int row) {
        return wb::visible_keys(queries, keys, true, row);
    };
    CHECK(visible(3, 5, 0) == 3);
    CHECK(visible(3, 5, 2) == 5);
    CHECK(visible(1, 9, 0) == 9);
    CHECK(visible(3, 2, 0) == 0);
    CHECK(visible(3, 2, 2) == 2);
    CHECK(visible(5, 1, 0) == 0);  // not -3
    CHECK(wb::visible_keys(3, 2, false, 0) == 2);
}

TEST_CASE("attention: a head dimension becomes a constant, or is refused") {
    int calls = 0;
    wb::with_head_dim<32, 256>(256, [&](auto head_dim) {
        static_assert(head_dim() == 32 || head_dim() == 256);
        calls += head_dim();
    });
    CHECK(calls == 256);
    std::string message;
    try {
        wb::with_head_dim<32, 256>(64, [&](auto) { ++calls; });
    } catch (const wb::InvalidArgument& error) {
        message = error.what();
    }
    CHECK(calls == 256);
    CHECK(message == "with_head_dim: head_dim is 64, but must be one of 32 256");
}

TEST_CASE("attention: a shape is described in a few letters") {
    CHECK(describe(plain_attention(2, 4, 7, 7, 64)) == "B2 H4 N7 D64");
    CHECK(describe(plain_attention(2, 4, 7, 9, 64, true)) ==
          "B2 H4 Nq7 Nk9 D64 causal");
    AttentionShape grouped = plain_attention(1, 8, 1, 5, 32);
    grouped.kv_heads = 2;
    CHECK(describe(grouped) == "B1 Hq8 Hkv2 Nq1 Nk5 D32");
}

TEST_CASE("attention: operations are counted as usual") {
    CHECK(attention_flop(plain_attention(4, 16, 1024, 1024, 64)) == 17179869184.0);
    CHECK(attention_flop(plain_attention(4, 16, 1024, 1024, 64, true)) == 8589934592.0);
}

TEST_CASE("attention: shapes that no kernel takes are refused") {
    const wb::Arguments arguments("f");
    AttentionShape shape = plain_attention(1, 8, 5, 5, 64);
    CHECK_NOTHROW(wb::check_shape(arguments, shape, {32, 64}));
    shape.kv_heads = 3;
    CHECK_THROWS_AS(wb::check_shape(arguments, shape, {64}), wb::InvalidArgument);
    shape.kv_heads = 0;
    CHECK_THROWS_AS(wb::check_shape(arguments, shape, {64}), wb::InvalidArgument);
    shape.kv_heads = 2;
    CHECK_NOTHROW(wb::check_shape(arguments, shape, {64}));
    CHECK_THROWS_AS(wb::check_shape(arguments, shape, {32, 128}), wb::InvalidArgument);
    shape.scale = -std::numeric_limits<float>::infinity();
    CHECK_THROWS_AS(wb::check_shape(arguments, shape, {64}), wb::InvalidArgument);
}

TEST_CASE("attention: the reference gives the numbers of the lesson") {
    // Scores 2, 1, 0, -1 and values 10, 20, 30, 40.
    AttentionShape shape = plain_attention(1, 1, 1, 4, 1);
    shape.scale = 1.0f;
    const std::vector<float> q = {1.0f};
    const std::vector<float> k = {2.0f, 1.0f, 0.0f, -1.0f};
    const std::vector<float> v = {10.0f, 20.0f, 30.0f, 40.0f};
    const auto row = wb::reference::attention_row(shape, q, k, 0);
    CHECK(std::abs(row.weights[0] - 0.6439) < 5e-5);
    CHECK(std::abs(row.weights[3] - 0.0321) < 5e-5);
    CHECK(std::abs(row.lse - 2.4402) < 5e-5);
    CHECK(std::abs(attention_element(shape, row, v, 0) - 15.07) < 5e-3);
    const auto expected = wb::testing::expect_attention(shape, {q, k, v});
    CHECK(std::abs(expected.o[0] - attention_element(shape, row, v, 0)) < 1e-12);
    CHECK(expected.o_bound[0] < 1e-3);
    CHECK(expected.o_bound[0] > 15.07 * 0x1p-24);
}

TEST_CASE("attention: sums over rows count every number once, whatever their number") {
    // Whole numbers: sums are exact in any order.
    for (std::size_t n = 0; n <= 37; ++n) {
        std::vector<float> a, b;
        double sum = 0.0, size = 0.0, terms = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            a.push_back(i % 3 == 0 ? 0.0f : static_cast<float>(i));
            b.push_back(i % 2 == 0 ? -3.0f : 5.0f);
            sum += double{a[i]} * b[i];
            size += double{a[i]} * std::abs(b[i]);
            terms += a[i] != 0.0f ? 1.0 : 0.0;
        }
        const auto product = wb::reference::product_sum(a.data(), b.data(), n);
        CHECK(product.sum == sum);
        CHECK(product.size == size);
        CHECK(product.terms == terms);
        std::vector<double> rows(n + 1, 1.0), sizes(n + 1, 1.0);
        wb::reference::add_row(rows.data(), 2.0, b.data(), n);
        wb::reference::add_sizes(sizes.data(), 2.0, b.data(), n);
        for (std::size_t i = 0; i < n; ++i) {
            CHECK(rows[i] == 1.0 + 2.0 * b[i]);
            CHECK(sizes[i] == 1.0 + 2.0 * std::abs(b[i]));
        }
        CHECK(rows[n] == 1.0);
        CHECK(sizes[n] == 1.0);
    }
    const float nan[] = {1.0f, std::numeric_limits<float>::quiet_NaN(), 2.0f};
    CHECK(std::isnan(wb::reference::product_sum(nan, nan, 3).sum));
}

TEST_CASE("attention: grouped heads read the keys of their group") {
    AttentionShape shape = plain_attention(2, 4, 1, 1, 1);
    shape.kv_heads = 2;
    const std::vector<float> q(8, 1.0f);
    const std::vector<float> k(4, 1.0f);
    for (int64_t row = 0; row < shape.rows(); ++row)
        CHECK(wb::reference::attention_row(shape, q, k, row).first_kv == row / 2);
}

TEST_CASE("attention: a row that sees no key is zeros and minus infinity") {
    const AttentionShape shape = plain_attention(1, 1, 3, 1, 32, true);
    const auto inputs = wb::testing::random_attention(shape, 1);
    const auto expected = expect_attention(shape, inputs);
    CHECK(expected.o[0] == 0.0);
    CHECK(expected.lse[0] == -std::numeric_limits<double>::infinity());
    CHECK(expected.lse_bound[0] == 0.0);
    CHECK(std::isfinite(expected.lse[2]));
}

TEST_CASE("attention: the bounds reject rounding to half precision") {
    for (const int64_t keys : {1, 33, 127}) {
        const AttentionShape shape = plain_attention(1, 1, 1, keys, 32);
        const auto inputs = wb::testing::random_attention(shape, 1);
        const auto expected = expect_attention(shape, inputs);
        int outside = 0;
        for (size_t i = 0; i < expected.o.size(); ++i) {
            // A relative error of 2^-11 in the result alone.
            outside += std::abs(expected.o[i]) * 0x1p-11 > expected.o_bound[i];
        }
        CHECK(outside > 0);
    }
}
