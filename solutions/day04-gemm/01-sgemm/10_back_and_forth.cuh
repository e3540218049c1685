// 10_back_and_forth.cuh: v10: the products of a k in another order.
#pragma once

// #region v10-order
/// Makes the products of a k row by row, every second row from its right end. So two
/// products behind each other always have a factor in common: within a row that of A,
/// and where a row ends that of B.
struct BackAndForth {
    template <int TM, int TN>
    static __device__ __forceinline__ void add(float (&r_c)[TM][TN],
                                               const float (&r_a)[TM],
                                               const float (&r_b)[TN]) {
#pragma unroll
        for (int m = 0; m < TM; ++m)
#pragma unroll
            for (int i = 0; i < TN; ++i) {
                const int n = m % 2 == 0 ? i : TN - 1 - i;
                r_c[m][n] += r_a[m] * r_b[n];
            }
    }
};
// #endregion v10-order

// #region v10-launch
static void sgemm_v10(const wb::GemmShape& s,
                      float alpha,
                      const float* A,
                      const float* B,
                      float beta,
                      float* C,
                      cudaStream_t stream) {
    const Product p = Product::of(s, alpha, A, B, beta, C);
    launch_v8<WarpTiles<128, 128, 16, 32, 64, 8, 8>, 3, 2, BackAndForth>(p, s, stream);
}
// #endregion v10-launch
WB_RUNG(sgemm, sgemm_v10, "products back and forth");
