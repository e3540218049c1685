// Patterns as wb/sparse_builders.h makes them, and their lists of blocks: what the
// figure "sparse-masks" must draw.
#include <digest.h>
#include <json.h>
#include <wb/sparse_builders.h>

#include <vector>

namespace {

truth::Json json;

/// One element of "patterns". Short lists are printed whole, all as a digest.
/// @param arguments  of the builder, as numbers
void print(const char* name,
           const std::vector<double>& arguments,
           const wb::HostCsr& pattern) {
    const wb::HostBlocks blocks = wb::to_blocks(pattern);
    json.open('{').member("name", name).key("arguments").list(arguments);
    if (pattern.indices.size() <= 200) {
        json.key("offsets").list(pattern.offsets);
        json.key("indices").list(pattern.indices);
    }
    json.member("pairs", pattern.indices.size());
    json.member("offsets_digest", truth::digest_of(pattern.offsets));
    json.member("indices_digest", truth::digest_of(pattern.indices));
    json.key("full_offsets").list(blocks.full.offsets);
    json.key("full_blocks").list(blocks.full.blocks);
    json.key("partial_offsets").list(blocks.partial.offsets);
    json.key("partial_blocks").list(blocks.partial.blocks);
    json.member("masks_digest", truth::digest_of(blocks.masks));
    json.key("order").list(blocks.order).close('}');
}

void print_dense(int queries, int keys, bool causal) {
    print("dense",
          {1.0 * queries, 1.0 * keys, causal ? 1.0 : 0.0},
          wb::dense_pattern(queries, keys, causal));
}

void print_local(int queries, int keys, int left, int right) {
    print("local",
          {1.0 * queries, 1.0 * keys, 1.0 * left, 1.0 * right},
          wb::local_pattern(queries, keys, left, right));
}

void print_window(int queries, int keys, int window, int sinks) {
    print("window",
          {1.0 * queries, 1.0 * keys, 1.0 * window, 1.0 * sinks},
          wb::window_with_sinks(queries, keys, window, sinks));
}

void print_strided(int queries, int keys, int stride) {
    print("strided",
          {1.0 * queries, 1.0 * keys, 1.0 * stride},
          wb::strided_pattern(queries, keys, stride));
}

void print_random(int queries, int keys, int count, int seed) {
    print("random",
          {1.0 * queries, 1.0 * keys, 1.0 * count, 1.0 * seed},
          wb::random_pattern(queries, keys, count, static_cast<uint64_t>(seed)));
}

void print_hierarchical(int queries, int keys, int near) {
    print("hierarchical",
          {1.0 * queries, 1.0 * keys, 1.0 * near},
          wb::hierarchical_pattern(queries, keys, near));
}

void print_block_sparse(int queries, int keys, double density, int seed) {
    print(
        "block-sparse",
        {1.0 * queries, 1.0 * keys, density, 1.0 * seed},
        wb::block_sparse_pattern(queries, keys, density, static_cast<uint64_t>(seed)));
}

}  // namespace

int main() {
    json.open('{');
    json.member("block_rows", wb::BlockPattern::kRows);
    json.member("block_keys", wb::BlockPattern::kKeys);
    json.key("patterns").open('[');
    print_dense(16, 16, true);
    print_dense(130, 200, false);
    print_dense(300, 300, true);
    print_local(16, 16, 3, 2);
    print_local(400, 500, 70, 10);
    print_window(16, 16, 5, 2);
    print_window(512, 512, 200, 16);
    print_window(4096, 4096, 256, 0);
    print_window(20, 9, 4, 2);
    print_strided(16, 16, 4);
    print_strided(257, 321, 31);
    print_strided(12, 7, 3);
    print_random(16, 16, 4, 1);
    print_random(16, 16, 4, 2);
    print_random(300, 280, 33, 12345);
    print_random(5, 3, 9, 7);
    print_hierarchical(16, 16, 2);
    print_hierarchical(500, 500, 8);
    print_block_sparse(600, 520, 0.3, 1);
    print_block_sparse(1000, 1000, 0.55, 99);
    json.close(']').close('}').print();
}
