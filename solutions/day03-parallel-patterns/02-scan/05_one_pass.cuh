// 05_one_pass.cuh: v5: one pass; one thread of a block looks back.
// Included by scan.cu, below the kernel, which is that of v6.
#pragma once

// #region v5-look-back
/// v5: one thread asks one tile after the other, each as soon as the answer of the one
/// before has come.
struct ThreadLooksBack {
    template <class T>
    static __device__ T look_back(Word* words, unsigned tile) {
        T before{};
        if (threadIdx.x != 0) return before;
        for (;;) {
            --tile;
            Word word = ask(words + tile);
            while (kind_of(word) == kEmpty)
                word = ask(words + tile);
            before += sum_of<T>(word);
            if (kind_of(word) == kPrefix) return before;
        }
    }
};

struct V5 {
    template <class R>
    static void run(const Job<R>& job) {
        launch_one_pass(job, one_pass_kernel<R, ThreadLooksBack>);
    }
};
// #endregion v5-look-back
constexpr auto& scan_int32_v5 = scan_int32_by<V5>;
constexpr auto& scan_float_v5 = scan_float_by<V5>;
constexpr auto& segmented_scan_int32_v5 = segmented_scan_int32_by<V5>;
WB_RUNG(scan_int32, scan_int32_v5, "one pass, a thread looks back");
WB_RUNG(scan_float, scan_float_v5, "one pass, a thread looks back");
WB_RUNG(segmented_scan_int32, segmented_scan_int32_v5, "one pass, a thread looks back");
