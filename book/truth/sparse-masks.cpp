// Prints the patterns that wb/sparse_builders.h makes, and their lists of blocks, as
// JSON: what the figure "sparse-masks" of the book must show, too.
#include <wb/sparse_builders.h>

#include <cinttypes>
#include <cstdio>
#include <string>

namespace {

/// FNV-1a over the decimal digits of a list: long lists are compared by it.
class Digest {
 public:
    template <class Value>
    void add(Value value) {
        for (const char c : std::to_string(value) + ",") {
            hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
        }
    }
    uint64_t value() const { return hash_; }

 private:
    uint64_t hash_ = 0xCBF29CE484222325u;
};

template <class List>
void print_list(const char* name, const List& list, bool last = false) {
    std::printf("\"%s\": [", name);
    for (std::size_t i = 0; i < list.size(); ++i) {
        std::printf("%s%" PRId64, i == 0 ? "" : ", ", static_cast<int64_t>(list[i]));
    }
    std::printf(last ? "]" : "],\n     ");
}

template <class List>
void print_digest(const char* name, const List& list) {
    Digest digest;
    for (const auto value : list)
        digest.add(value);
    std::printf("\"%s\": \"%016" PRIx64 "\",\n     ", name, digest.value());
}

/// One element of "patterns". Short index lists are printed whole.
void print(const char* name,
           const std::string& arguments,
           const wb::HostCsr& pattern,
           bool last = false) {
    const wb::HostBlocks blocks = wb::to_blocks(pattern);
    std::printf("    {\"name\": \"%s\", \"arguments\": [%s],\n     ",
                name,
                arguments.c_str());
    if (pattern.indices.size() <= 200) {
        print_list("offsets", pattern.offsets);
        print_list("indices", pattern.indices);
    }
    std::printf("\"pairs\": %zu,\n     ", pattern.indices.size());
    print_digest("offsets_digest", pattern.offsets);
    print_digest("indices_digest", pattern.indices);
    print_list("full_offsets", blocks.full.offsets);
    print_list("full_blocks", blocks.full.blocks);
    print_list("partial_offsets", blocks.partial.offsets);
    print_list("partial_blocks", blocks.partial.blocks);
    print_digest("masks_digest", blocks.masks);
    print_list("order", blocks.order, true);
    std::printf(last ? "}\n" : "},\n");
}

}  // namespace

int main() {
    std::printf("{\"block\": {\"rows\": %d, \"keys\": %d},\n  \"patterns\": [\n",
                wb::BlockPattern::kRows,
                wb::BlockPattern::kKeys);
    print("dense", "16, 16, true", wb::dense_pattern(16, 16, true));
    print("dense", "130, 200, false", wb::dense_pattern(130, 200, false));
    print("dense", "300, 300, true", wb::dense_pattern(300, 300, true));
    print("local", "16, 16, 3, 2", wb::local_pattern(16, 16, 3, 2));
    print("local", "400, 500, 70, 10", wb::local_pattern(400, 500, 70, 10));
    print("window", "16, 16, 5, 2", wb::window_with_sinks(16, 16, 5, 2));
    print("window", "512, 512, 200, 16", wb::window_with_sinks(512, 512, 200, 16));
    print("window", "4096, 4096, 256, 0", wb::window_with_sinks(4096, 4096, 256, 0));
    print("window", "20, 9, 4, 2", wb::window_with_sinks(20, 9, 4, 2));
    print("strided", "16, 16, 4", wb::strided_pattern(16, 16, 4));
    print("strided", "257, 321, 31", wb::strided_pattern(257, 321, 31));
    print("strided", "12, 7, 3", wb::strided_pattern(12, 7, 3));
    print("random", "16, 16, 4, 1", wb::random_pattern(16, 16, 4, 1));
    print("random", "16, 16, 4, 2", wb::random_pattern(16, 16, 4, 2));
    print("random", "300, 280, 33, 12345", wb::random_pattern(300, 280, 33, 12345));
    print("random", "5, 3, 9, 7", wb::random_pattern(5, 3, 9, 7));
    print("hierarchical", "16, 16, 2", wb::hierarchical_pattern(16, 16, 2));
    print("hierarchical", "500, 500, 8", wb::hierarchical_pattern(500, 500, 8));
    print("block-sparse",
          "600, 520, 0.3, 1",
          wb::block_sparse_pattern(600, 520, 0.3, 1));
    print("block-sparse",
          "1000, 1000, 0.55, 99",
          wb::block_sparse_pattern(1000, 1000, 0.55, 99),
          true);
    std::printf("  ]}\n");
}
