// Grades day02-memory/05-jagged-tensors: what the functions refuse on the host.
#include "jagged_cases.h"

using namespace jagged_grading;

namespace {

constexpr int64_t kHuge = int64_t{1} << 31;

/// Device memory that is enough for all arrays, in parts that do not overlap.
struct Memory {
    Grader grade{"jagged tensors", "wrong arguments"};
    __nv_bfloat16* a = grade.output<__nv_bfloat16>("a", {640});
    __nv_bfloat16* b = a + 160;
    __nv_bfloat16* c = a + 320;
    int64_t* rows = grade.output<int64_t>("rows", {32});
    int32_t* narrow = grade.output<int32_t>("narrow", {32});
    JaggedStatus* status = status_array(grade);
    __nv_bfloat16 host[8] = {};
    int64_t host_rows[8] = {};
    __nv_bfloat16* odd =
        reinterpret_cast<__nv_bfloat16*>(reinterpret_cast<char*>(a) + 1);
};

}  // namespace

TEST_CASE("offsets: wrong arguments are refused by name") {
    Memory m;
    int32_t host[8] = {};
    const auto refuse = [](const char* what, const char* part, auto call) {
        wb::testing::expect_refused("jagged_offsets", what, part, call);
    };
    const auto* lengths = m.narrow;
    refuse("-1 rows", "num_rows is -1", [&] {
        jagged_offsets(lengths, m.rows, -1, m.status, nullptr);
    });
    refuse("2^31 rows", "num_rows is 2147483648", [&] {
        jagged_offsets(lengths, m.rows, kHuge, m.status, nullptr);
    });
    refuse("lengths null", "lengths is a null pointer", [&] {
        jagged_offsets(nullptr, m.rows, 4, m.status, nullptr);
    });
    refuse("lengths on the host", "lengths is a host pointer", [&] {
        jagged_offsets(host, m.rows, 4, m.status, nullptr);
    });
    refuse("offsets null", "offsets is a null pointer", [&] {
        jagged_offsets(lengths, static_cast<int32_t*>(nullptr), 0, m.status, nullptr);
    });
    refuse("offsets misaligned", "offsets is not aligned", [&] {
        auto* odd = reinterpret_cast<int64_t*>(reinterpret_cast<char*>(m.rows) + 4);
        jagged_offsets(lengths, odd, 4, m.status, nullptr);
    });
    refuse("status null", "status is a null pointer", [&] {
        jagged_offsets(lengths, m.rows, 4, nullptr, nullptr);
    });
    refuse("in place", "offsets - lengths in bytes is 0", [&] {
        jagged_offsets(lengths, m.narrow, 4, m.status, nullptr);
    });
    refuse("they overlap", "offsets - lengths in bytes is 12", [&] {
        jagged_offsets(lengths, m.narrow + 3, 4, m.status, nullptr);
    });
    refuse("they overlap", "offsets - lengths in bytes is -16", [&] {
        jagged_offsets(lengths + 4, m.narrow, 4, m.status, nullptr);
    });
}

TEST_CASE("conversions: wrong arguments are refused by name") {
    Memory m;
    const JaggedShape good = {4, 10, 5, 8};
    const bool to_dense = GENERATE(true, false);
    const auto refuse = [&](const char* part,
                            const JaggedShape& shape,
                            __nv_bfloat16* values,
                            wb::Offsets offsets,
                            __nv_bfloat16* dense,
                            JaggedStatus* status) {
        const char* function = to_dense ? "jagged_to_dense" : "dense_to_jagged";
        wb::testing::expect_refused(function, part, part, [&] {
            if (to_dense)
                jagged_to_dense(values, offsets, dense, shape, status, nullptr);
            else
                dense_to_jagged(dense, offsets, values, shape, status, nullptr);
        });
    };
    const auto size = [&](const char* part, const JaggedShape& shape) {
        refuse(part, shape, m.a, m.rows, m.b, m.status);
    };
    size("shape.num_rows is -1", {-1, 10, 5, 8});
    size("shape.num_rows is 2147483648", {kHuge, 10, 5, 8});
    size("shape.total is -2", {4, -2, 5, 8});
    size("shape.total is 3", {0, 3, 5, 8});
    size("shape.max_length is -1", {4, 10, -1, 8});
    size("shape.dim is 0", {4, 10, 5, 0});
    size("total * dim * 2 = 2147483648 * 2147483648 * 2", {4, kHuge, 5, kHuge});
    size("4 * 2147483648 * 1073741824 * 2", {4, 10, kHuge, kHuge / 2});
    refuse("values is a null pointer", good, nullptr, m.rows, m.b, m.status);
    refuse("values is a host pointer", good, m.host, m.rows, m.b, m.status);
    refuse("values is not aligned", good, m.odd, m.rows, m.b, m.status);
    refuse("dense is a null pointer", good, m.a, m.rows, nullptr, m.status);
    refuse("dense is a host pointer", good, m.a, m.rows, m.host, m.status);
    refuse("dense is not aligned", good, m.b, m.rows, m.odd, m.status);
    refuse("offsets is a host pointer", good, m.a, m.host_rows, m.b, m.status);
    refuse("status is a null pointer", good, m.a, m.rows, m.b, nullptr);
    const wb::Offsets none(static_cast<const int32_t*>(nullptr));
    refuse("offsets is a null pointer", good, m.a, none, m.b, m.status);
    refuse("dense - values in bytes is 0", good, m.a, m.rows, m.a, m.status);
    refuse("dense - values in bytes is 158", good, m.a, m.rows, m.a + 79, m.status);
    refuse("dense - values in bytes is -318", good, m.a + 159, m.rows, m.a, m.status);
}

TEST_CASE("concat and split: wrong arguments are refused by name") {
    Memory m;
    const PairShape good = {4, 10, 10, 8};
    const bool concat = GENERATE(true, false);
    const auto refuse = [&](const char* part,
                            const PairShape& shape,
                            __nv_bfloat16* a,
                            __nv_bfloat16* b,
                            __nv_bfloat16* values,
                            wb::Offsets a_offsets,
                            wb::Offsets b_offsets,
                            JaggedStatus* status) {
        const char* function = concat ? "jagged_concat" : "jagged_split";
        wb::testing::expect_refused(function, part, part, [&] {
            if (concat)
                jagged_concat(a,
                              a_offsets,
                              b,
                              b_offsets,
                              values,
                              m.rows + 16,
                              shape,
                              status,
                              nullptr);
            else
                jagged_split(
                    values, a_offsets, b_offsets, a, b, shape, status, nullptr);
        });
    };
    const auto size = [&](const char* part, const PairShape& shape) {
        refuse(part, shape, m.a, m.b, m.c, m.rows, m.rows, m.status);
    };
    size("shape.num_rows is -1", {-1, 10, 10, 8});
    size("shape.num_rows is 2147483648", {kHuge, 10, 10, 8});
    size("shape.a_total is -1", {4, -1, 10, 8});
    size("shape.b_total is -1", {4, 10, -1, 8});
    size("shape.a_total is 1", {0, 1, 0, 8});
    size("shape.b_total is 1", {0, 0, 1, 8});
    size("shape.dim is 0", {4, 10, 10, 0});
    size("a_total * dim * 4 = 2147483648 * 1073741824 * 4", {4, kHuge, 10, kHuge / 2});
    size("b_total * dim * 4 = 2147483648 * 1073741824 * 4", {4, 10, kHuge, kHuge / 2});
    const auto arrays = [&](const char* part,
                            __nv_bfloat16* a,
                            __nv_bfloat16* b,
                            __nv_bfloat16* values) {
        refuse(part, good, a, b, values, m.rows, m.rows, m.status);
    };
    arrays("a is a null pointer", nullptr, m.b, m.c);
    arrays("b is a null pointer", m.a, nullptr, m.c);
    arrays("values is a null pointer", m.a, m.b, nullptr);
    arrays("a is a host pointer", m.host, m.b, m.c);
    arrays("b is not aligned", m.b, m.odd, m.c);
    arrays("values - a in bytes is 158", m.a, m.b + 160, m.a + 79);
    arrays("values - b in bytes is -318", m.c, m.a + 159, m.a);
    if (!concat) arrays("b - a in bytes is 0", m.a, m.a, m.c);
    const wb::Offsets none(static_cast<const int64_t*>(nullptr));
    refuse("a_offsets is a null", good, m.a, m.b, m.c, none, m.rows, m.status);
    refuse("b_offsets is a null", good, m.a, m.b, m.c, m.rows, none, m.status);
    refuse("bits of b_offsets is 32", good, m.a, m.b, m.c, m.rows, m.narrow, m.status);
    refuse("status is a null", good, m.a, m.b, m.c, m.rows, m.rows, nullptr);
}

TEST_CASE("concat: offsets that it cannot write are refused") {
    Memory m;
    const auto refuse = [&](const char* part,
                            const PairShape& shape,
                            wb::Offsets rows,
                            wb::OffsetsOut offsets) {
        wb::testing::expect_refused("jagged_concat", part, part, [&] {
            jagged_concat(m.a, rows, m.b, rows, m.c, offsets, shape, m.status, nullptr);
        });
    };
    const PairShape good = {4, 10, 10, 8};
    refuse("bits of offsets is 32", good, m.rows, m.narrow);
    refuse("bits of offsets is 64", good, m.narrow, m.rows);
    int64_t* none = nullptr;
    refuse("offsets is a null pointer", good, m.rows, none);
    refuse("offsets - a_offsets in bytes is 0", good, m.rows, m.rows);
    refuse("offsets - a_offsets in bytes is 32", good, m.rows, m.rows + 4);
    wb::testing::expect_refused(
        "jagged_concat", "onto b's", "offsets - b_offsets", [&] {
            jagged_concat(m.a,
                          m.rows + 16,
                          m.b,
                          m.rows,
                          m.c,
                          m.rows + 2,
                          good,
                          m.status,
                          nullptr);
        });
}
