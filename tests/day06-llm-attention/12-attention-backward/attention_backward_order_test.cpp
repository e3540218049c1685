// Grades day06-llm-attention/12-attention-backward: results that are the same bits
// always, where a call asks for that.
#include "grading.h"

#include <wb/testing/catch.h>
#include <wb/testing/fail.h>
#include <wb/testing/same_numbers.h>
#include <wb/testing/simulator.h>

using namespace backward_grading;
using wb::testing::Begin;
using wb::testing::plain_attention;
using Bf16 = __nv_bfloat16;

namespace {

/// All gradients of a launch, bit by bit: floats hold bf16 exactly.
///
/// @param begin  where arrays begin
template <class T>
std::vector<double> bits_of(const std::string& name,
                            Launcher<T>* launch,
                            const AttentionShape& shape,
                            const Inputs& in,
                            Begin begin = Begin::aligned) {
    Grader grade(name, wb::describe(shape) + ", deterministic");
    const auto call = call_of<T>(grade, shape, in, true, begin);
    grade.run([&](cudaStream_t stream) { launch(call, stream); });
    std::vector<double> all;
    for (const char* array : {"dq", "dk", "dv"})
        for (const double x : grade.read(array))
            all.push_back(x);
    return all;
}

/// Keys of a head, and the last 44 of them take away again what the first 44 have added
/// to dq: 2^60 times what the others add. So each order in which three or more parts of
/// the keys may add has a sum of its own, and the difference is no matter of rounding.
Inputs where_order_shows(const AttentionShape& shape) {
    constexpr int64_t kTaken = 44;  // of 300 keys, those behind 2 * 128
    Inputs in = whole_numbers(shape, 5);
    for (int64_t head = 0; head < shape.batch * shape.kv_heads; ++head) {
        for (int64_t key = 0; key < shape.keys; ++key) {
            const bool is_taken = key >= shape.keys - kTaken;
            const bool is_large = key < kTaken;
            const int64_t to = (head * shape.keys + key) * shape.head_dim;
            const int64_t from = to - (shape.keys - kTaken) * shape.head_dim;
            for (int64_t d = 0; d < shape.head_dim; ++d) {
                if (is_taken) {
                    in.k[at(to + d)] = -in.k[at(from + d)];
                    in.v[at(to + d)] = in.v[at(from + d)];
                } else {
                    in.k[at(to + d)] *= is_large ? 0x1p30f : 0x1p-30f;
                }
            }
        }
    }
    return in;
}

/// The same of queries of one head: the last 44 take away from dk and dv what the first
/// 44 have added.
Inputs where_order_of_queries_shows(const AttentionShape& shape) {
    constexpr int64_t kTaken = 44;
    Inputs in = whole_numbers(shape, 5);
    for (int64_t query = 0; query < shape.queries; ++query) {
        const bool is_taken = query >= shape.queries - kTaken;
        const float size = query < kTaken ? 0x1p30f : 0x1p-30f;
        const int64_t from = query - (shape.queries - kTaken);
        if (is_taken) in.lse[at(query)] = in.lse[at(from)];
        for (int64_t d = 0; d < shape.head_dim; ++d) {
            const auto to = at(query * shape.head_dim + d);
            const auto first = at(from * shape.head_dim + d);
            // S has two factors d_o, so that its sign is that of q.
            in.q[to] = is_taken ? in.q[first] : in.q[to];
            in.d_o[to] = is_taken ? -in.d_o[first] : in.d_o[to] * size;
            if (is_taken) in.o[to] = in.o[first];
        }
    }
    return in;
}

/// The same of query heads that share their keys, three or more: the last takes away
/// from dk what the first has added.
Inputs where_order_of_heads_shows(const AttentionShape& shape) {
    Inputs in = whole_numbers(shape, 5);
    const auto head = at(shape.queries * shape.head_dim);
    const std::size_t last = in.q.size() - head;
    for (std::size_t i = head; i < last; ++i)
        in.q[i] *= 0x1p-30f;
    for (std::size_t i = 0; i < head; ++i) {
        in.q[i] *= 0x1p30f;
        in.q[last + i] = -in.q[i];
        in.o[last + i] = in.o[i];
        in.d_o[last + i] = in.d_o[i];
    }
    std::copy_n(in.lse.begin(), shape.queries, in.lse.end() - shape.queries);
    return in;
}

/// Most of the memory that the device has left is taken.
class LittleMemory {
 public:
    LittleMemory() {
        std::size_t free_bytes = 0;
        std::size_t total_bytes = 0;
        CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
        if (cudaMalloc(&memory_, free_bytes / 4 * 3) != cudaSuccess) {
            (void)cudaGetLastError();
            memory_ = nullptr;
        }
    }
    ~LittleMemory() { (void)cudaFree(memory_); }
    LittleMemory(const LittleMemory&) = delete;
    LittleMemory& operator=(const LittleMemory&) = delete;

 private:
    void* memory_ = nullptr;
};

/// Of threads and blocks. In every third one a block may come late, where there is room
/// for few.
constexpr unsigned kOrders[] = {1, 3, 6, 9};

template <class T>
void compare_bits(const AttentionShape& shape,
                  const Inputs& in,
                  bool last_alone = false) {
    auto versions = implementations_of<T>();
    if (last_alone) versions = wb::testing::last_of(versions);
    for (const auto& [name, idea, launch] : versions) {
        // What a call may do is no matter of the first one.
        const auto small = plain_attention(1, 1, 1, 1, 64);
        const Inputs numbers = whole_numbers(small, 1);
        grade_one<T>(
            name, launch, small, numbers, expect<T>(small, numbers), ", first", false);
        const auto first = bits_of<T>(name, launch, shape, in);
        const auto compare = [&, name = name, launch = launch](
                                 const char* where, const char* cause, Begin begin) {
            const auto now = bits_of<T>(name, launch, shape, in, begin);
            if (wb::testing::same_numbers(now, first)) return;
            wb::testing::fail(wb::testing::Kind::contract,
                              name + " gives other bits " + where +
                                  ", though call.deterministic is true",
                              cause);
        };
        for (const unsigned seed : kOrders) {
            wb::testing::shuffle_threads(seed);
            compare("in another order of threads and blocks",
                    "likely cause: atomic additions of floats, whose sum depends on "
                    "the order",
                    Begin::aligned);
            wb::testing::shuffle_threads(0);
        }
        compare("if arrays begin elsewhere", "", Begin::odd_vectors);
        {
            const LittleMemory little;
            compare("if little memory is free", "", Begin::aligned);
        }
        const wb::testing::FewMultiprocessors few(2);
        compare("on a GPU with fewer multiprocessors", "", Begin::aligned);
    }
}

}  // namespace

TEST_CASE("deterministic: the same bits in any order of threads and blocks") {
    // Bits are compared here, and accesses are those of other cases.
    if (wb::testing::is_watched()) return;
    const auto random = [](auto zero, const AttentionShape& shape) {
        using T = decltype(zero);
        const auto numbers = wb::testing::random_attention(shape, 5);
        compare_bits<T>(shape, inputs_of<T>(shape, numbers, 5));
    };
    random(float(), plain_attention(2, 1, 35, 70, 64));
    random(Bf16(), plain_attention(2, 2, 9, 70, 64));
    random(Bf16(), grouped(plain_attention(1, 1, 40, 140, 128, true), 2));
    random(float(), plain_attention(1, 1, 20, 40, 128, true));
    random(Bf16(), plain_attention(1, 1, 20, 40, 128));
    random(Bf16(), plain_attention(1, 1, 20, 40, 64, true));
    for (const int64_t dim : {64, 128}) {
        const auto heads = grouped(plain_attention(1, 1, 20, 40, dim), 6);
        compare_bits<float>(heads, where_order_of_heads_shows(heads), true);
        compare_bits<Bf16>(heads, where_order_of_heads_shows(heads), true);
        for (const bool causal : {false, true}) {
            const int64_t heads = causal ? 2 : 1;
            const auto small = plain_attention(1, heads, 20, 300, dim, causal);
            if (dim == 64) compare_bits<float>(small, where_order_shows(small), true);
            // More tiles of queries, too.
            const auto shape = plain_attention(
                1, heads, causal && dim == 64 ? 140 : 20, 300, dim, causal);
            const Inputs in = where_order_shows(shape);
            const wb::testing::FewBlocks few(3);  // the blocks of its keys
            compare_bits<Bf16>(shape, in, dim == 128 || causal);
        }
    }
}

TEST_CASE("deterministic: the same bits, of many queries and of many keys") {
    if (wb::testing::is_watched()) return;
    for (const int64_t dim : {64, 128}) {
        const auto queries = plain_attention(1, 1, 1500, 2, dim);
        compare_bits<float>(queries, where_order_of_queries_shows(queries), true);
        compare_bits<Bf16>(queries, where_order_of_queries_shows(queries), true);
        const auto keys = plain_attention(1, 1, 1, 1500, dim);
        compare_bits<float>(keys, where_order_shows(keys), true);
        compare_bits<Bf16>(keys, where_order_shows(keys), true);
    }
    const auto causal = plain_attention(1, 1, 530, 530, 64, true);
    compare_bits<float>(causal, where_order_of_queries_shows(causal), true);
    compare_bits<Bf16>(causal, where_order_of_queries_shows(causal), true);
}

TEST_CASE("room for one block, or for two") {
    if (wb::testing::is_watched()) return;
    const auto shape = grouped(plain_attention(1, 1, 270, 140, 64, true), 2);
    const Inputs in = whole_numbers(shape, 3);
    const Expected e = expect<float>(shape, in);
    for (const unsigned resident : {1u, 2u}) {
        const wb::testing::FewBlocks few(resident);
        for (const auto& [name, idea, launch] :
             wb::testing::last_of(implementations_of<float>()))
            grade_one<float>(name, launch, shape, in, e, ", whole numbers", false);
        grade_last(shape, false);
    }
}

TEST_CASE("deterministic: room for one block, or for two") {
    if (wb::testing::is_watched()) return;
    // The first 226 queries see none of the last 44 keys, which a block owns.
    for (const unsigned resident : {1u, 2u}) {
        for (const unsigned seed : {0u, 3u}) {
            const wb::testing::FewBlocks few(resident);
            wb::testing::shuffle_threads(seed);
            grade_last(grouped(plain_attention(1, 1, 270, 300, 64, true), 2), true);
            wb::testing::shuffle_threads(0);
        }
    }
}
