// Grades day04-gemm/01-sgemm: sizes, layouts, factors.
#include "sgemm_cases.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>

#include <algorithm>

TEST_CASE("one small tile") {
    const auto [M, N, K] = GENERATE(table<int64_t, int64_t, int64_t>({{1, 1, 1},
                                                                      {32, 32, 32},
                                                                      {31, 32, 33},
                                                                      {33, 31, 32},
                                                                      {2, 33, 31},
                                                                      {33, 1, 7}}));
    grade_random({GemmShape{M, N, K}.packed()});
}

TEST_CASE("several tiles, none of them whole at the end") {
    grade_random({GemmShape{61, 97, 67}.packed()});
}

TEST_CASE("C is scaled and added to") {
    const float beta = GENERATE(1.0f, -0.75f);
    grade_random({GemmShape{35, 40, 33}.packed(), 1.5f, beta});
}

TEST_CASE("each operand as it is, and transposed") {
    const bool ta = GENERATE(false, true);
    const bool tb = GENERATE(false, true);
    grade_random({GemmShape{37, 66, 41, ta, tb}.packed(), 1.0f, 1.0f});
    grade_random({GemmShape{64, 36, 40, ta, tb}.packed()});
}

namespace {

/// One case of a design: levels are sizes, what is beyond whole vectors in the three
/// matrices, and factors in quarters.
void grade_case(const wb::testing::Combination& c) {
    const FewMultiprocessors few(static_cast<int>(c["multiprocessors"]));
    const int64_t layout = c["layout"];
    Call call{
        GemmShape{c["M"], c["N"], c["K"], layout / 2 == 1, layout % 2 == 1}.packed(),
        static_cast<float>(c["alpha/4"]) / 4.0f,
        static_cast<float>(c["beta/4"]) / 4.0f,
        c["A from"],
        c["B from"],
        c["C from"]};
    call.shape.lda += c["gap of A"];
    call.shape.ldb += c["gap of B"];
    call.shape.ldc += c["gap of C"];
    grade_random(call);
}

wb::testing::Covering design() {
    return wb::testing::Covering()
        .factor("layout", {"NN", "NT", "TN", "TT"})
        .factor("alpha/4", {4, -2, 7})
        .factor("beta/4", {0, 4, -3})
        .factor("gap of A", {0, 1, 4})
        .factor("gap of B", {0, 1, 4})
        .factor("gap of C", {0, 1, 4})
        .factor("A from", {0, 1, 4})
        .factor("B from", {0, 1, 4})
        .factor("C from", {0, 1, 4});
}

}  // namespace

TEST_CASE("edges meet: sizes, layouts, gaps, factors, and where arrays begin") {
    static const auto cases = design()
                                  .factor("M", {1, 4, 31, 33, 64, 68})
                                  .factor("N", {1, 3, 32, 60, 64, 72})
                                  .factor("K", {1, 7, 8, 15, 16, 17, 36, 50})
                                  .factor("multiprocessors", {132})
                                  .triples("layout", "gap of A", "gap of B")
                                  .cases();
    size_t left = wb::testing::is_watched() ? 8 : cases.size();
    for (const auto& c : cases) {
        if (left-- == 0) break;
        DYNAMIC_SECTION(c.text()) {
            grade_case(c);
        }
    }
}

TEST_CASE("edges meet: large tiles") {
    // One multiprocessor: it takes as long for one large tile as for eight small ones.
    static const auto cases = design()
                                  .factor("M", {100, 128, 132})
                                  .factor("N", {96, 127, 128, 200, 256, 260})
                                  .factor("K", {1, 4, 16, 29, 33, 64})
                                  .factor("multiprocessors", {1})
                                  .cases();
    size_t left = wb::testing::is_watched() ? 3 : cases.size();
    for (const auto& c : cases) {
        if (left-- == 0) break;
        DYNAMIC_SECTION(c.text()) {
            grade_case(c);
        }
    }
}

TEST_CASE("more of K than all stages hold") {
    const FewMultiprocessors few(1);
    const auto [M, N, K] = GENERATE(
        table<int64_t, int64_t, int64_t>({{5, 9, 1031}, {40, 24, 160}, {33, 129, 96}}));
    const bool is_transposed = GENERATE(false, true);
    grade_random({GemmShape{M, N, K, is_transposed, !is_transposed}.packed()});
}

TEST_CASE("each side past 4096, with gaps, whichever way the operands lie", "[long]") {
    const bool ta = GENERATE(false, true);
    const bool tb = GENERATE(false, true);
    const auto [M, N, K] = GENERATE(
        table<int64_t, int64_t, int64_t>({{4131, 3, 5}, {3, 4131, 5}, {3, 5, 4131}}));
    // A tile takes the simulator as long as a whole one.
    if (K > 4096 && ta == tb) return;
    GemmShape shape = GemmShape{M, N, K, ta, tb}.packed();
    shape.lda += 3;
    shape.ldb += 1;
    shape.ldc += 2;
    grade_random({shape, 1.5f, -0.5f});
}

TEST_CASE("without K, C is scaled, whichever way the operands lie") {
    const bool ta = GENERATE(false, true);
    const bool tb = GENERATE(false, true);
    grade_random({GemmShape{7, 9, 0, ta, tb}.packed(), 1.0f, -0.75f});
}

namespace {

/// The last two versions, or the learner's.
void grade_last(const Call& call) {
    const auto numbers = random_numbers(call);
    const auto all = wb::implementations("sgemm", sgemm);
    for (size_t i = all.size() - std::min<size_t>(all.size(), 2); i < all.size(); ++i)
        grade_one(all[i].name, all[i].function, call, numbers, ", seed 1");
}

}  // namespace

TEST_CASE("a GPU with little shared memory") {
    const FewMultiprocessors few(1);
    const wb::testing::LittleSharedMemory little;
    grade_last({GemmShape{100, GENERATE(as<int64_t>(), 127, 256), 17}.packed()});
}

TEST_CASE("a long K and few tiles: blocks may share a tile") {
    // Two multiprocessors: two of three tiles of 64 x 128 have a block each, and two
    // share the last one. With 132 several share each tile.
    const auto [count, K] = GENERATE(table<int, int64_t>({{2, 400}, {132, 259}}));
    const FewMultiprocessors few(count);
    const bool ta = GENERATE(false, true);
    const bool tb = GENERATE(false, true);
    grade_last({GemmShape{5, 6, 0}.packed()});  // of which nothing may be kept
    grade_last({GemmShape{130, 100, K, ta, tb}.packed(), 1.5f, -0.75f});
}

TEST_CASE("a long K and few large tiles: blocks may share them, too") {
    // Two tiles of 128 x 128 for four multiprocessors, and four of them for three.
    const auto [count, M, N] =
        GENERATE(table<int, int64_t, int64_t>({{4, 128, 256}, {3, 256, 252}}));
    const FewMultiprocessors few(count);
    const bool is_transposed = GENERATE(false, true);
    grade_last({GemmShape{M, N, 260, is_transposed, !is_transposed}.packed()});
}

TEST_CASE("more than 128 tiles side by side", "[long]") {
    const FewMultiprocessors few(2);
    grade_last({GemmShape{2, 16400, 3}.packed()});
}

TEST_CASE("large tiles whose rows are no vectors, some of them shared", "[long]") {
    // Four tiles of 128 x 128 for three multiprocessors; v13 has these, too.
    const FewMultiprocessors few(3);
    grade_last({GemmShape{195, 253, 401, GENERATE(false, true), false}.packed()});
}

TEST_CASE("right whatever order the threads run in") {
    wb::testing::shuffle_threads(GENERATE(as<unsigned>(), 1, 2));
    grade_random({GemmShape{40, 68, 100, false, true}.packed(), 1.0f, 1.0f});
    wb::testing::shuffle_threads(0);
}

TEST_CASE("nothing is kept from call to call") {
    wb::testing::expect_independent(
        [] {
            grade_random({GemmShape{33, 20, 35}.packed(), 0.5f, 2.0f});
        },
        [] {
            grade_random({GemmShape{10, 70, 64, true, true}.packed()}, 2);
        });
}

TEST_CASE("all work is queued on the caller's stream, and nobody waits for it") {
    const FewMultiprocessors few(GENERATE(1, 132));
    const Call call{GemmShape{130, GENERATE(as<int64_t>(), 60, 260), 20}.packed()};
    const GemmShape& s = call.shape;
    for (const auto& [name, idea, launcher] : wb::implementations("sgemm", sgemm)) {
        Grader grade(name, call.text() + ", queued only");
        const std::vector<float> zeros(static_cast<size_t>(s.K * (s.M + s.N)));
        const float* const d_ab = grade.input("A and B", zeros);
        float* const d_c = grade.output<float>("C", {s.M, s.N});
        grade.expect_queued([&, launcher = launcher](cudaStream_t stream) {
            launcher(s, 1.0f, d_ab, d_ab + s.M * s.K, 0.0f, d_c, stream);
        });
    }
}

TEST_CASE("hundreds of rows and columns, prime numbers of them", "[long]") {
    const FewMultiprocessors few(2);
    const bool is_transposed = GENERATE(false, true);
    grade_random({GemmShape{257, 521, 131, is_transposed, is_transposed}.packed()});
}
