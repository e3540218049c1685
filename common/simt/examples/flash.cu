// flash.cu: attention without the matrix of scores, in three steps. O = softmax(Q K^T)
// V row by row: the softmax of what has been seen so far is corrected as keys arrive.
//
//     ./learn xray common/simt/examples/flash.cu            (flash [n = 64])
//
// Heads are [4][n][64] floats in row-major order. What is compared: how often each
// element of K and V is moved, and by whom.
#include "example.h"

constexpr int kHeads = 4;
constexpr int kDim = 64;
constexpr float kScale = 0.125f;  // 1 / sqrt(kDim)

/// v1: one thread a row. The lanes of a warp read the same element of K and V, a
/// broadcast of 1 sector. But Q and O are read and written a row a lane, 32 sectors; a
/// thread keeps 128 numbers in registers, and n threads a head do not fill a GPU.
__global__ void flash_v1(
    const float* q, const float* k, const float* v, float* out, int n) {
    const int row = blockIdx.x * 64 + threadIdx.x;
    const int head = blockIdx.y * n * kDim;
    float query[kDim], sum[kDim];
#pragma unroll
    for (int d = 0; d < kDim; ++d) {
        query[d] = q[head + row * kDim + d] * kScale;  // @v1.q
        sum[d] = 0;
    }
    float largest = -INFINITY, total = 0;
    for (int j = 0; j < n; ++j) {
        float score = 0;
#pragma unroll
        for (int d = 0; d < kDim; ++d)
            score += query[d] * k[head + j * kDim + d];  // @v1.k
        const float before = largest;
        largest = fmaxf(before, score);
        const float shrink = expf(before - largest), weight = expf(score - largest);
        total = total * shrink + weight;
#pragma unroll
        for (int d = 0; d < kDim; ++d)
            sum[d] = sum[d] * shrink + weight * v[head + j * kDim + d];  // @v1.v
    }
#pragma unroll
    for (int d = 0; d < kDim; ++d)
        out[head + row * kDim + d] = sum[d] / total;  // @v1.out
}

/// v2: one warp a row, two columns a lane. All accesses are rows, 4 sectors, and there
/// are 32 times as many threads. But each row of K and V is now read for one row of Q
/// only, where it was read for 32: 8 sectors a row of K and query, instead of 2.
__global__ void flash_v2(
    const float* q, const float* k, const float* v, float* out, int n) {
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * 4 + threadIdx.x / 32;
    const int head = blockIdx.y * n * kDim;
    const float* const query = q + head + row * kDim;
    const float query0 = query[lane] * kScale;       // @v2.q0
    const float query1 = query[lane + 32] * kScale;  // @v2.q1
    float sum0 = 0, sum1 = 0, largest = -INFINITY, total = 0;
    for (int j = 0; j < n; ++j) {
        const float* const key = k + head + j * kDim;
        const float key0 = key[lane];       // @v2.k0
        const float key1 = key[lane + 32];  // @v2.k1
        float score = query0 * key0 + query1 * key1;
        for (int offset = 16; offset > 0; offset /= 2)
            score += __shfl_xor_sync(~0u, score, offset);
        const float before = largest;
        largest = fmaxf(before, score);
        const float shrink = expf(before - largest), weight = expf(score - largest);
        total = total * shrink + weight;
        const float* const value = v + head + j * kDim;
        const float value0 = value[lane];       // @v2.v0
        const float value1 = value[lane + 32];  // @v2.v1
        sum0 = sum0 * shrink + weight * value0;
        sum1 = sum1 * shrink + weight * value1;
    }
    float* const result = out + head + row * kDim;
    result[lane] = sum0 / total;       // @v2.out0
    result[lane + 32] = sum1 / total;  // @v2.out1
}

__device__ float dot(float4 a, float4 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

/// a * s, element by element.
__device__ float4 scaled(float4 a, float s) {
    return make_float4(a.x * s, a.y * s, a.z * s, a.w * s);
}

/// a + w * b, element by element.
__device__ float4 plus(float4 a, float w, float4 b) {
    return make_float4(a.x + w * b.x, a.y + w * b.y, a.z + w * b.z, a.w + w * b.w);
}

constexpr int kTile = 32;         // rows of Q, K and V that a block holds at a time
constexpr int kQuads = kDim / 4;  // float4 in a row

/// v3: a block of 8 x 8 threads does 32 rows, with tiles of K and V in shared memory. A
/// thread holds 4 rows x 4 keys of scores and 4 rows x 8 columns of sums in registers,
/// so that each float4 from shared memory serves 4 times. One float4 of padding a row
/// keeps the 8 keys that a quarter of a warp reads in different banks.
__global__ void flash_v3(
    const float4* q, const float4* k, const float4* v, float4* out, int n) {
    __shared__ float4 s_q[kTile][kQuads + 1], s_k[kTile][kQuads + 1];
    __shared__ float4 s_v[kTile][kQuads];
    __shared__ float s_p[kTile][kTile + 2];  // 4 rows further is 8 banks further
    const int t = threadIdx.x, tx = t % 8, ty = t / 8;
    const int head = blockIdx.y * n * kQuads;
    const int first = head + blockIdx.x * kTile * kQuads;

    for (int i = t; i < kTile * kQuads; i += 64) {
        const float4 quad = q[first + i];    // @v3.q
        s_q[i / kQuads][i % kQuads] = quad;  // @v3.put_q
    }
    float4 sum[4][2] = {};
    float largest[4], total[4] = {};
    for (int r = 0; r < 4; ++r)
        largest[r] = -INFINITY;

    for (int j = 0; j < n; j += kTile) {
        __syncthreads();  // the tiles of the last round have been read
        for (int i = t; i < kTile * kQuads; i += 64) {
            const float4 key = k[head + j * kQuads + i];    // @v3.k
            s_k[i / kQuads][i % kQuads] = key;              // @v3.put_k
            const float4 value = v[head + j * kQuads + i];  // @v3.v
            s_v[i / kQuads][i % kQuads] = value;            // @v3.put_v
        }
        __syncthreads();

        float score[4][4] = {};
        for (int d = 0; d < kQuads; ++d) {
            float4 query[4], key[4];
#pragma unroll
            for (int r = 0; r < 4; ++r)
                query[r] = s_q[ty * 4 + r][d];  // @v3.get_q
#pragma unroll
            for (int c = 0; c < 4; ++c)
                key[c] = s_k[tx + 8 * c][d];  // @v3.get_k
#pragma unroll
            for (int i = 0; i < 16; ++i)
                score[i / 4][i % 4] += dot(query[i / 4], key[i % 4]);
        }

        float shrink[4];
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            float best =
                fmaxf(fmaxf(score[r][0], score[r][1]), fmaxf(score[r][2], score[r][3]));
            for (int offset = 4; offset > 0; offset /= 2)  // the 8 threads of the row
                best = fmaxf(best, __shfl_xor_sync(~0u, best, offset));
            const float before = largest[r];
            largest[r] = fmaxf(before, best * kScale);
            shrink[r] = expf(before - largest[r]);
            total[r] *= shrink[r];
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                const float weight = expf(score[r][c] * kScale - largest[r]);
                total[r] += weight;
                s_p[ty * 4 + r][tx + 8 * c] = weight;  // @v3.put_p
            }
            sum[r][0] = scaled(sum[r][0], shrink[r]);
            sum[r][1] = scaled(sum[r][1], shrink[r]);
        }
        __syncwarp();  // the weights of a row belong to one warp
        for (int key = 0; key < kTile; ++key) {
            const float4 value0 = s_v[key][tx];      // @v3.get_v0
            const float4 value1 = s_v[key][tx + 8];  // @v3.get_v1
#pragma unroll
            for (int r = 0; r < 4; ++r) {
                const float weight = s_p[ty * 4 + r][key];  // @v3.get_p
                sum[r][0] = plus(sum[r][0], weight, value0);
                sum[r][1] = plus(sum[r][1], weight, value1);
            }
        }
    }
#pragma unroll
    for (int r = 0; r < 4; ++r) {
        for (int offset = 4; offset > 0; offset /= 2)
            total[r] += __shfl_xor_sync(~0u, total[r], offset);
        const int row = first + (ty * 4 + r) * kQuads;
        out[row + tx] = scaled(sum[r][0], 1 / total[r]);      // @v3.out0
        out[row + tx + 8] = scaled(sum[r][1], 1 / total[r]);  // @v3.out1
    }
}

/// The same in double precision, with all scores of a row at once.
static std::vector<float> attention(const std::vector<float>& q,
                                    const std::vector<float>& k,
                                    const std::vector<float>& v,
                                    int n) {
    std::vector<float> out(q.size());
    std::vector<double> weights(n);
    for (int row = 0; row < kHeads * n; ++row) {
        const size_t head = size_t(row / n) * n * kDim;
        double total = 0;
        for (int j = 0; j < n; ++j) {
            double score = 0;
            for (int d = 0; d < kDim; ++d)
                score += double(q[size_t(row) * kDim + d]) * k[head + j * kDim + d];
            weights[j] = std::exp(score * kScale);  // inputs are small: no overflow
            total += weights[j];
        }
        for (int d = 0; d < kDim; ++d) {
            double sum = 0;
            for (int j = 0; j < n; ++j)
                sum += weights[j] * v[head + j * kDim + d];
            out[size_t(row) * kDim + d] = float(sum / total);
        }
    }
    return out;
}

int main(int argc, char** argv) {
    const int n = example::size_argument(argc, argv, 64, 64);
    const size_t count = size_t(kHeads) * n * kDim;
    const std::vector<float> values = example::numbers(3 * count);
    const std::vector<float> host_q(values.begin(), values.begin() + count);
    const std::vector<float> host_k(values.begin() + count, values.end() - count);
    const std::vector<float> host_v(values.end() - count, values.end());
    const std::vector<float> want = attention(host_q, host_k, host_v, n);
    const std::vector<float> blank(count, -2.0f);
    example::Array<float> q(host_q), k(host_k), v(host_v), out(blank);
    example::Verdict verdict;

    flash_v1<<<dim3(n / 64, kHeads), 64>>>(q.data(), k.data(), v.data(), out.data(), n);
    verdict.compare("flash_v1", out.download(), want, 1e-5);
    out.upload(blank);
    flash_v2<<<dim3(n / 4, kHeads), 128>>>(q.data(), k.data(), v.data(), out.data(), n);
    verdict.compare("flash_v2", out.download(), want, 1e-5);
    out.upload(blank);
    flash_v3<<<dim3(n / kTile, kHeads), 64>>>(reinterpret_cast<float4*>(q.data()),
                                              reinterpret_cast<float4*>(k.data()),
                                              reinterpret_cast<float4*>(v.data()),
                                              reinterpret_cast<float4*>(out.data()),
                                              n);
    verdict.compare("flash_v3", out.download(), want, 1e-5);
    return verdict.exit_status();
}
