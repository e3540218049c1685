// transpose.cu: out = in^T for an n x n matrix, five ways to touch the same memory.
//
//     ./learn xray common/simt/examples/transpose.cu        (transpose [n = 128])
//
// A warp is 32 threads with consecutive threadIdx.x. Global memory is moved in sectors
// of 32 bytes: 32 neighbouring floats are 4 sectors, 32 floats in 32 rows are 32
// sectors. Shared memory has 32 banks of 4 bytes: word w is in bank w % 32, and words
// of one bank are served one after another.
#include "example.h"

constexpr int kTile = 32;
constexpr int kRows = 8;  // rows of threads in a block: each thread moves 4 elements

/// Reads rows, writes columns. The load costs 4 sectors, the store 32: the lanes of a
/// warp write n floats apart.
__global__ void transpose_naive(const float* in, float* out, int n) {
    const int x = blockIdx.x * kTile + threadIdx.x;
    const int y = blockIdx.y * kTile + threadIdx.y;
    for (int j = 0; j < kTile; j += kRows) {
        const float value = in[(y + j) * n + x];  // @naive.load
        out[x * n + (y + j)] = value;             // @naive.store
    }
}

/// Reads columns, writes rows: now the load costs 32 sectors and the store 4. It is the
/// better of the two, for cached sectors can serve the next load, but no store.
__global__ void transpose_gather(const float* in, float* out, int n) {
    const int x = blockIdx.x * kTile + threadIdx.x;
    const int y = blockIdx.y * kTile + threadIdx.y;
    for (int j = 0; j < kTile; j += kRows) {
        const float value = in[x * n + (y + j)];  // @gather.load
        out[(y + j) * n + x] = value;             // @gather.store
    }
}

/// Turns the tile in shared memory, so that both global accesses are rows: 4 sectors.
/// But the column of the tile lies in one bank, since its words are 32 apart: 32 ways.
__global__ void transpose_tiled(const float* in, float* out, int n) {
    __shared__ float tile[kTile][kTile];
    const int column = blockIdx.x * kTile + threadIdx.x;
    const int row = blockIdx.y * kTile + threadIdx.y;
    for (int j = 0; j < kTile; j += kRows) {
        const float value = in[(row + j) * n + column];  // @tiled.load
        tile[threadIdx.y + j][threadIdx.x] = value;      // @tiled.put
    }
    __syncthreads();
    const int x = blockIdx.y * kTile + threadIdx.x;
    const int y = blockIdx.x * kTile + threadIdx.y;
    for (int j = 0; j < kTile; j += kRows) {
        const float value = tile[threadIdx.x][threadIdx.y + j];  // @tiled.get
        out[(y + j) * n + x] = value;                            // @tiled.store
    }
}

/// One unused column makes rows 33 words long: the words of a column are in 32
/// different banks, one way. It costs 128 bytes of shared memory.
__global__ void transpose_padded(const float* in, float* out, int n) {
    __shared__ float tile[kTile][kTile + 1];
    const int column = blockIdx.x * kTile + threadIdx.x;
    const int row = blockIdx.y * kTile + threadIdx.y;
    for (int j = 0; j < kTile; j += kRows) {
        const float value = in[(row + j) * n + column];  // @padded.load
        tile[threadIdx.y + j][threadIdx.x] = value;      // @padded.put
    }
    __syncthreads();
    const int x = blockIdx.y * kTile + threadIdx.x;
    const int y = blockIdx.x * kTile + threadIdx.y;
    for (int j = 0; j < kTile; j += kRows) {
        const float value = tile[threadIdx.x][threadIdx.y + j];  // @padded.get
        out[(y + j) * n + x] = value;                            // @padded.store
    }
}

/// No padding: element (r, c) is kept in column c ^ r. Within a row, and within a
/// column, these are 32 different columns, thus 32 banks: one way both times.
__global__ void transpose_swizzled(const float* in, float* out, int n) {
    __shared__ float tile[kTile][kTile];
    const int column = blockIdx.x * kTile + threadIdx.x;
    const int row = blockIdx.y * kTile + threadIdx.y;
    for (int j = 0; j < kTile; j += kRows) {
        const int r = threadIdx.y + j;
        const float value = in[(row + j) * n + column];  // @swizzled.load
        tile[r][threadIdx.x ^ r] = value;                // @swizzled.put
    }
    __syncthreads();
    const int x = blockIdx.y * kTile + threadIdx.x;
    const int y = blockIdx.x * kTile + threadIdx.y;
    for (int j = 0; j < kTile; j += kRows) {
        const int c = threadIdx.y + j;
        const float value = tile[threadIdx.x][c ^ threadIdx.x];  // @swizzled.get
        out[(y + j) * n + x] = value;                            // @swizzled.store
    }
}

int main(int argc, char** argv) {
    const int n = example::size_argument(argc, argv, 128, kTile);
    const std::vector<float> matrix = example::numbers(size_t(n) * n);
    std::vector<float> transposed(matrix.size());
    for (int y = 0; y < n; ++y) {
        for (int x = 0; x < n; ++x)
            transposed[size_t(x) * n + y] = matrix[size_t(y) * n + x];
    }
    const std::vector<float> zeros(matrix.size());
    example::Array<float> in(matrix), out(zeros);
    example::Verdict verdict;
    const dim3 grid(n / kTile, n / kTile), block(kTile, kRows);

    transpose_naive<<<grid, block>>>(in.data(), out.data(), n);
    verdict.compare("transpose_naive", out.download(), transposed);
    out.upload(zeros);
    transpose_gather<<<grid, block>>>(in.data(), out.data(), n);
    verdict.compare("transpose_gather", out.download(), transposed);
    out.upload(zeros);
    transpose_tiled<<<grid, block>>>(in.data(), out.data(), n);
    verdict.compare("transpose_tiled", out.download(), transposed);
    out.upload(zeros);
    transpose_padded<<<grid, block>>>(in.data(), out.data(), n);
    verdict.compare("transpose_padded", out.download(), transposed);
    out.upload(zeros);
    transpose_swizzled<<<grid, block>>>(in.data(), out.data(), n);
    verdict.compare("transpose_swizzled", out.download(), transposed);
    return verdict.exit_status();
}
