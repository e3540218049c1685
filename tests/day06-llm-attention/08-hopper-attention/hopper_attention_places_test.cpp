// Grades day06-llm-attention/08-hopper-attention: where a call runs, and where its
// arrays are: another device, keys and values in one array.
#include <wb/testing/other_device.h>

#include "hopper_grading.h"
#include "packed_grading.h"

using namespace hopper_grading;
using T = __nv_bfloat16;

TEST_CASE("on another device than the first, in each layout") {
    NEEDS_HOPPER();
    // What a device was told about a kernel, another one does not know.
    const auto graded = [](auto call) {
        call();
        wb::testing::on_another_device(call);
    };
    for (const int64_t D : {64, 128, 256}) {
        graded([&] { grade_bf16(plain_attention(1, 1, 5, 9, D)); });
        graded([&] { grade(plain_attention(1, 1, 5, 9, D)); });
        const auto batch = make_batch<T>({{3, 7}, {2, 5}}, 1, 1, D, true);
        graded([&] { grade_packed<T>(batch); });
        graded([&] {
            grade_packed<__half>(make_batch<__half>({{3, 7}}, 1, 1, D, true));
        });
        if (D != 256) graded([&] { grade_paged(batch, 16); });
    }
}

TEST_CASE("one array is k and v, in each layout") {
    NEEDS_HOPPER();
    // Only o must not overlap the inputs.
    auto batch = make_batch<T>({{5, 5}, {130, 200}}, 1, 1, 64, true);
    for (AttentionInputs& inputs : batch.inputs)
        inputs.v = inputs.k;
    batch.inputs[0].q = batch.inputs[0].k;
    // Dense, even q is the same array.
    const AttentionInputs& inputs = batch.inputs[0];
    const auto dense = expect_half<T>(batch.parts[0], inputs);
    for (const auto& [name, idea, attention] : implementations_of<T>()) {
        Grader grade(name, describe(batch.parts[0]) + ", one array is q, k and v");
        const T* all = grade.input("q, k and v", rounded<T>(inputs.k));
        T* o = grade.output<T>("o", {5, 64});
        float* lse = grade.output<float>("lse", {5});
        grade.run([&, attention = attention](cudaStream_t stream) {
            attention(batch.parts[0], all, all, all, o, lse, stream);
        });
        expect_both(grade, dense);
    }
    const auto expected = expect_batch<T>(batch);
    const wb::PagedWorkspace workspace(1);
    const auto graded = [&](const char* name, auto call) {
        Grader grade(name, batch.text() + ", one array is k and v");
        const T* q = grade.input("q", pack_rows<T>(batch, &AttentionInputs::q, 1, 64));
        const T* k = grade.input("k", pack_rows<T>(batch, &AttentionInputs::k, 1, 64));
        const auto* starts = grade.input("query_starts", batch.query_starts);
        const auto* key_starts = grade.input("key_starts", batch.key_starts);
        wb::PagedCache cache = cache_on_device(grade, in_pages(batch, 16, 7));
        cache.v = cache.k;
        T* o = grade.output<T>("o", {135, 64});
        float* lse = grade.output<float>("lse", {135});
        grade.run([&](cudaStream_t stream) {
            call(q, k, starts, key_starts, cache, o, lse, stream);
        });
        expect_both(grade, expected);
    };
    graded("hopper_attention_packed",
           [&](auto q, auto k, auto starts, auto key_starts, auto&, auto... rest) {
               hopper_attention_packed(
                   batch.shape, q, k, k, starts, key_starts, rest...);
           });
    graded("hopper_attention_paged",
           [&](auto q, auto, auto starts, auto, auto& cache, auto o, auto lse, auto s) {
               hopper_attention_paged(
                   batch.shape, cache, q, starts, o, lse, workspace, s);
           });
}
