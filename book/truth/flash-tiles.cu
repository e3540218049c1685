// flash-tiles.cu: bytes that attention kernels ask global memory for, counted by the
// simulator's checker while the solutions of day 6, chapters 01 and 02, run; and the
// shared memory of their tiles. For the figure <FlashTiles />.
#include <json.h>
#include <naive_attention.h>
#include <simt/check.h>
#include <simt/counters.h>
#include <wb/attention.h>
#include <wb/check.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "flash_attention.cu"  // for its v3

using simt::check::counters;
using truth::Json;

/// Device memory for one head of each tensor, and a launch's shape.
struct Head {
    wb::AttentionShape shape;
    float *q, *k, *v, *o;

    Head(int64_t queries, int64_t keys, int64_t head_dim, bool causal)
        : shape{.queries = queries,
                .keys = keys,
                .head_dim = head_dim,
                .causal = causal} {
        for (float** tensor : {&q, &k, &v, &o}) {
            const bool of_queries = tensor == &q || tensor == &o;
            const size_t bytes =
                (of_queries ? shape.query_elements() : shape.kv_elements()) *
                sizeof(float);
            CUDA_CHECK(cudaMalloc(tensor, bytes));
            CUDA_CHECK(cudaMemset(*tensor, 0, bytes));
        }
    }
    Head(const Head&) = delete;
    Head& operator=(const Head&) = delete;
    ~Head() {
        for (float* tensor : {q, k, v, o})
            cudaFree(tensor);
    }
};

/// What is launched from here on is counted from zero.
static void start_counting() {
    static int sections = 0;
    simt::check::begin_section(std::to_string(++sections).c_str());
}

/// What the lanes of a kernel wanted, whose accesses are all of `width` bytes.
struct Bytes {
    uint64_t read, written;
};

static Bytes bytes_of(const char* kernel, uint64_t width) {
    const simt::check::Counters c = counters(kernel);
    const Bytes bytes = {width * (c.global_load.lanes + c.async_load.lanes),
                         width * c.global_store.lanes};
    if (c.launches == 0 || bytes.read + bytes.written != c.bytes_requested) {
        std::fprintf(
            stderr, "%s: not all accesses have %d bytes\n", kernel, int(width));
        std::exit(1);
    }
    return bytes;
}

static void write_shape(Json* json, const wb::AttentionShape& shape, int BM, int BN) {
    json->key("shape").open('{').member("N", shape.queries).member("M", shape.keys);
    json->member("D", shape.head_dim).member("BM", BM).member("BN", BN);
    json->member("causal", shape.causal).close('}');
}

/// One head by flash_attention_v3 with the tile T.
template <class T>
static void write_flash(Json* json, int64_t queries, int64_t keys, bool causal) {
    const Head head(queries, keys, T::D, causal);
    start_counting();
    const Tensors<float> t = {head.q, head.k, head.v, head.o, nullptr};
    if (!launch_tiles<T>(flash_attention_v3_kernel<T>, head.shape, t, nullptr)) {
        std::fprintf(stderr, "the simulator's GPU has too little shared memory\n");
        std::exit(1);
    }
    CUDA_CHECK(cudaDeviceSynchronize());
    const Bytes bytes = bytes_of("", sizeof(float4));  // the section's only kernel
    json->open('{');
    write_shape(json, head.shape, T::BM, T::BN);
    json->member("read", bytes.read).member("written", bytes.written);
    json->member("flop", static_cast<int64_t>(wb::attention_flop(head.shape)));
    json->close('}');
}

static void write_kernel(Json* json, const char* name, const char* kernel) {
    const Bytes bytes = bytes_of(kernel, sizeof(float));
    json->key(name).open('{').member("read", bytes.read);
    json->member("written", bytes.written).close('}');
}

/// One head by naive_attention, which is its v2 in the solution.
static void write_naive(
    Json* json, int64_t queries, int64_t keys, int64_t head_dim, bool causal) {
    const Head head(queries, keys, head_dim, causal);
    start_counting();
    naive_attention(head.shape, head.q, head.k, head.v, head.o, nullptr, nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
    json->open('{');
    write_shape(json, head.shape, 64, 64);
    write_kernel(json, "products", "product_v2_kernel");  // q k^T, and weights v
    write_kernel(json, "softmax", "softmax_v1_kernel");
    json->close('}');
}

template <class T>
static void write_tile(Json* json) {
    json->open('{').key("shape").open('{').member("D", T::D).member("BM", T::BM);
    json->member("BN", T::BN).close('}').member("bytes", T::kBytes).close('}');
}

/// All tiles that the figure offers for one head dimension.
template <int D, int kLanes>
static void write_tiles(Json* json) {
    write_tile<Tile<Tiling{D, 32, 32, kLanes}>>(json);
    write_tile<Tile<Tiling{D, 64, 32, kLanes}>>(json);
    write_tile<Tile<Tiling{D, 128, 32, kLanes}>>(json);
    write_tile<Tile<Tiling{D, 32, 64, kLanes}>>(json);
    write_tile<Tile<Tiling{D, 64, 64, kLanes}>>(json);
    write_tile<Tile<Tiling{D, 128, 64, kLanes}>>(json);
    write_tile<Tile<Tiling{D, 32, 128, kLanes}>>(json);
    write_tile<Tile<Tiling{D, 64, 128, kLanes}>>(json);
    write_tile<Tile<Tiling{D, 128, 128, kLanes}>>(json);
}

static void write_mask(Json* json, int queries, int keys, bool causal) {
    json->open('{').member("N", queries).member("M", keys).member("causal", causal);
    json->key("visible").open('[');
    for (int row = 0; row < queries; ++row)
        json->value(wb::visible_keys(queries, keys, causal, row));
    json->close(']').close('}');
}

int main() {
    Json json;
    json.open('{').key("flash").open('[');
    write_flash<Tile<Tiling{64, 128, 64, 8}>>(&json, 256, 128, false);
    write_flash<Tile<Tiling{64, 128, 64, 8}>>(&json, 192, 192, true);  // tails
    write_flash<Tile<Tiling{64, 64, 32, 8}>>(&json, 128, 128, true);
    write_flash<Tile<Tiling{64, 64, 32, 8}>>(&json, 100, 150, false);
    write_flash<Tile<Tiling{64, 64, 32, 8}>>(&json, 150, 50, true);  // rows that see nothing
    write_flash<Tile<Tiling{32, 32, 128, 8}>>(&json, 128, 200, false);
    write_flash<Tile<Tiling{128, 64, 64, 16}>>(&json, 128, 128, true);
    json.close(']').key("naive").open('[');
    write_naive(&json, 128, 128, 64, false);
    write_naive(&json, 128, 128, 64, true);
    write_naive(&json, 72, 72, 32, true);
    write_naive(&json, 50, 70, 128, false);
    json.close(']').key("tiles").open('[');
    write_tiles<32, 8>(&json);
    write_tiles<64, 8>(&json);
    write_tiles<128, 16>(&json);
    write_tile<Tile<large_tiling(256)>>(&json);
    json.close(']').key("masks").open('[');
    write_mask(&json, 3, 5, true);
    write_mask(&json, 3, 2, true);
    write_mask(&json, 5, 3, false);
    json.close(']').close('}').print();
}
