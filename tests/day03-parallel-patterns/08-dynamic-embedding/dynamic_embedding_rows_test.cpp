// Grades day03-parallel-patterns/08-dynamic-embedding: rows that are read and added to.
#include "insert_cases.h"

#include <wb/testing/bounds.h>
#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/simulator.h>

#include <cmath>
#include <cstring>
#include <limits>

using namespace table_cases;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// A table whose slots all have keys.
HostTable with_values(const TableShape& shape) {
    HostTable host(shape);
    for (uint64_t key = 1; host.insert(key) >= 0 || key < 2000; ++key) {
    }
    return host;
}

/// The same, with what a copy must not change.
HostTable full_table(const TableShape& shape) {
    HostTable host = with_values(shape);
    const float special[] = {kNan, -0.0f, kInf, -kInf, 1e-40f};
    for (std::size_t i = 0; i < 5 && i * 7 < host.rows.size(); ++i)
        host.rows[i * 7] = special[i];
    return host;
}

/// n slots, some of them none, and some many times.
std::vector<int32_t> some_slots(const HostTable& host, int64_t n, uint64_t seed) {
    const auto capacity = static_cast<int32_t>(host.capacity());
    const int32_t none[] = {-1, capacity, -7, std::numeric_limits<int32_t>::min()};
    wb::testing::Random random(seed);
    std::vector<int32_t> slots;
    for (int64_t i = 0; i < n; ++i)
        slots.push_back(i % 9 == 4   ? none[i / 9 % 4]
                        : i % 5 == 0 ? capacity - 1
                                     : static_cast<int32_t>(random.below(capacity)));
    return slots;
}

bool is_slot_of(const HostTable& host, int32_t slot) {
    return slot >= 0 && slot < host.capacity();
}

/// In half of the cases arrays begin at no multiple of 16 bytes.
wb::testing::Begin begin_of(int64_t n) {
    return n % 2 == 0 ? wb::testing::Begin::anywhere : wb::testing::Begin::aligned;
}

void grade_lookup(const TableShape& shape, int64_t n, int64_t from = 0) {
    const HostTable host = full_table(shape);
    const auto slots = some_slots(host, n, 1);
    const int64_t cols = shape.cols;
    std::vector<double> right(at(from), 77.0);
    for (const int32_t slot : slots)
        for (int64_t col = 0; col < cols; ++col)
            right.push_back(is_slot_of(host, slot) ? host.rows[at(slot * cols + col)]
                                                   : 0.0);
    for (const auto& [name, idea, lookup] :
         wb::implementations("table_lookup", table_lookup)) {
        Grader grade(name,
                     "n = " + std::to_string(n) + ", cols = " + std::to_string(cols));
        const DeviceTable device(grade, host, Rows::floats);
        const int32_t* d_slots = grade.input("slots", slots, begin_of(n));
        float* d_out = from == 0 ? grade.output<float>("out", {n * cols})
                                 : grade.in_out("out",
                                                {from + n * cols},
                                                std::vector<float>(right.size(), 77.f));
        grade.run([&, lookup = lookup](cudaStream_t stream) {
            device.with_cold(stream, [&] {
                lookup(device.get(), d_slots, d_out + from, n, stream);
            });
        });
        grade.expect("out", right, [](int64_t) { return 0.0; });
    }
}

using Backward =
    void(const Table&, const int32_t*, const float*, float, int64_t, cudaStream_t);

/// @param exact  the sorted order: bit by bit what a loop over i gives
void grade_backward_one(const std::string& name,
                        Backward* backward,
                        bool exact,
                        const TableShape& shape,
                        int64_t n,
                        float scale) {
    const HostTable host = with_values(shape);
    const int64_t cols = shape.cols;
    const int64_t floats = host.capacity() * cols;
    const auto slots = some_slots(host, n, 2);
    const auto grad = wb::testing::random_normal(n * cols, 3);
    std::vector<float> sums(at(floats), 0.0f);
    std::vector<double> exact_sums(at(floats), 0.0);
    std::vector<double> magnitudes(at(floats), 0.0);
    std::vector<double> terms(at(floats), 0.0);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t col = 0; col < cols && is_slot_of(host, slots[at(i)]); ++col) {
            const std::size_t to = at(slots[at(i)] * cols + col);
            const float g = grad[at(i * cols + col)];
            sums[to] += g;
            exact_sums[to] += double{scale} * g;
            magnitudes[to] += std::abs(double{scale} * g);
            terms[to] += 1.0;
        }
    std::vector<double> right(at(floats));
    for (std::size_t k = 0; k < right.size(); ++k) {
        right[k] = exact ? double{std::fmaf(scale, sums[k], host.rows[k])}
                         : double{host.rows[k]} + exact_sums[k];
        if (terms[k] == 0.0) right[k] = host.rows[k];
    }
    std::vector<int32_t> all;
    for (int32_t slot = 0; slot < host.capacity(); ++slot)
        all.push_back(slot);
    Grader grade(name, "n = " + std::to_string(n) + ", cols = " + std::to_string(cols));
    const DeviceTable device(grade, host, Rows::floats);
    const int32_t* d_slots = grade.input("slots", slots, begin_of(n));
    const int32_t* d_all = grade.input("all slots", all);
    const float* d_grad = grade.input("grad", grad, begin_of(n));
    float* d_out = grade.output<float>("rows", {floats});
    grade.run([&](cudaStream_t stream) {
        device.with_cold(stream, [&] {
            backward(device.get(), d_slots, d_grad, scale, n, stream);
            table_lookup(device.get(), d_all, d_out, host.capacity(), stream);
        });
    });
    grade.expect("rows", right, [&](int64_t k) {
        if (exact || terms[at(k)] == 0.0) return 0.0;
        return wb::testing::float_bound(
            terms[at(k)] + 1.0, std::abs(double{host.rows[at(k)]}) + magnitudes[at(k)]);
    });
}

void grade_backward(const TableShape& shape, int64_t n, float scale) {
    for (const auto& [name, idea, backward] :
         wb::implementations("table_backward", table_backward))
        grade_backward_one(name, backward, false, shape, n, scale);
    grade_backward_one(
        "table_backward_sorted", table_backward_sorted, true, shape, n, scale);
}

}  // namespace

TEST_CASE("rows are copied, hot and cold, and zeros stand for what is no slot") {
    const auto n = GENERATE(as<int64_t>(), 1, 4, 31, 33, 257);
    const auto cols = GENERATE(as<int64_t>(), 1, 3, 4, 8, 64, 132, 260);
    grade_lookup({3, cols, 5, 1, Policy::lru}, n);
}

TEST_CASE("rows are the same bits: NaN, a negative zero, the smallest numbers") {
    const std::vector<uint32_t> bits = {0x7FC0'0000,
                                        0xFFC0'0001,
                                        0x8000'0000,
                                        0x7F80'0000,
                                        0xFF80'0000,
                                        1,
                                        0x8000'0002,
                                        0x0012'3456,
                                        0x7F7F'FFFF,
                                        0x0080'0000,
                                        0,
                                        0xBF80'0000};
    const auto cols = GENERATE(as<int64_t>(), 3, 4);
    const int64_t n = static_cast<int64_t>(bits.size()) / cols;
    std::vector<float> initial(bits.size());
    std::memcpy(initial.data(), bits.data(), bits.size() * sizeof(float));
    const auto keys = some_keys(n, 3);
    const std::vector<double> right(bits.begin(), bits.end());
    const int hot = GENERATE(0, kPlaces);
    const auto judge = [&](const std::string& name, Insert* insert, auto* lookup) {
        Grader grade(name, "bits of rows, cols = " + std::to_string(cols));
        const HostTable host({1, cols, hot, 1, Policy::lru});
        const DeviceTable device(grade, host, Rows::floats);
        const uint64_t* d_keys = grade.input("keys", keys);
        const float* d_initial = grade.input("initial", initial);
        int32_t* d_slots = grade.output<int32_t>("slots", {n});
        auto* d_out = grade.output<uint32_t>("bits of out", {n * cols});
        grade.run([&](cudaStream_t stream) {
            device.with_cold(stream, [&] {
                insert(device.get(), d_keys, d_initial, d_slots, n, stream);
                lookup(
                    device.get(), d_slots, reinterpret_cast<float*>(d_out), n, stream);
            });
        });
        grade.expect("bits of out", right, [](int64_t) { return 0.0; });
    };
    for (const auto& [name, idea, insert] : inserts())
        judge(name, insert, table_lookup);
    for (const auto& [name, idea, lookup] :
         wb::implementations("table_lookup", table_lookup))
        judge(name, table_insert_or_find, lookup);
}

TEST_CASE("rows all hot, all cold, and an array that begins anywhere") {
    const int hot = GENERATE(0, 1, 13, 14);
    grade_lookup({2, 8, hot, 1, Policy::lru}, 70);
    grade_lookup({2, 8, hot, 1, Policy::lru}, 70, 1);
}

TEST_CASE("hot rows that begin anywhere") {
    const HostTable host = with_values({2, 4, kPlaces, 1, Policy::lru});
    for (const auto& [name, idea, lookup] :
         wb::implementations("table_lookup", table_lookup)) {
        Grader grade(name, "hot rows from element 1");
        const DeviceTable device(grade, host, Rows::floats);
        Table table = device.get();
        table.num_buckets = 1;
        table.hot += 1;
        const int32_t* d_slots = grade.input("slots", std::vector<int32_t>{3, 13});
        float* d_out = grade.output<float>("out", {8});
        grade.run([&, lookup = lookup](cudaStream_t stream) {
            lookup(device.get(), d_slots, d_out, 2, stream);  // with other rows
            lookup(table, d_slots, d_out, 2, stream);
        });
        std::vector<double> right;
        for (const int64_t slot : {3, 13})
            for (int64_t col = 0; col < 4; ++col)
                right.push_back(host.rows[at(1 + slot * 4 + col)]);
        grade.expect("out", right, [](int64_t) { return 0.0; });
    }
}

TEST_CASE("gradients are added up, also of one slot many times") {
    const auto n = GENERATE(as<int64_t>(), 1, 31, 33, 600);
    const auto cols = GENERATE(as<int64_t>(), 1, 3, 8, 65, 132);
    grade_backward({3, cols, 5, 1, Policy::lru}, n, -0.01f);
}

TEST_CASE("gradients that are NaN, infinite, tiny or huge reach their row") {
    const std::vector<float> grad = {kNan, kInf, -kInf, 1e-36f, 1.5e38f, -0.5f};
    const float scale = GENERATE(2.0f, 0.0f);
    HostTable host({1, 1, kPlaces, 1, Policy::lru});
    const auto n = static_cast<int64_t>(grad.size());
    std::vector<int32_t> slots;
    std::vector<double> right;
    for (int32_t i = 0; i < n; ++i) {
        host.insert(static_cast<uint64_t>(i) + 1);
        host.rows[at(i)] = 0.0f;
        slots.push_back(i);
        right.push_back(scale * grad[at(i)]);
    }
    const auto judge = [&](const std::string& name, Backward* backward) {
        Grader grade(name, "scale = " + std::to_string(scale));
        const DeviceTable device(grade, host, Rows::floats);
        const int32_t* d_slots = grade.input("slots", slots);
        const float* d_grad = grade.input("grad", grad);
        float* d_out = grade.output<float>("rows", {n});
        grade.run([&](cudaStream_t stream) {
            backward(device.get(), d_slots, d_grad, scale, n, stream);
            table_lookup(device.get(), d_slots, d_out, n, stream);
        });
        grade.expect("rows", right, [](int64_t) { return 0.0; });
    };
    for (const auto& [name, idea, backward] :
         wb::implementations("table_backward", table_backward))
        judge(name, backward);
    judge("table_backward_sorted", table_backward_sorted);
}

TEST_CASE("gradients once more in the same arrays, with another scale") {
    const HostTable host = with_values({2, 4, kPlaces, 1, Policy::lru});
    const std::vector<int32_t> slots = {3, 17, 9};
    const std::vector<float> grad(12, 0.5f);
    const auto judge = [&](const std::string& name, Backward* backward) {
        Grader grade(name, "as before but for the scale");
        const DeviceTable device(grade, host, Rows::floats);
        const int32_t* d_slots = grade.input("slots", slots);
        const float* d_grad = grade.input("grad", grad);
        float* d_out = grade.output<float>("rows", {12});
        grade.run([&](cudaStream_t stream) {
            for (const float scale : {2.0f, -8.0f})
                backward(device.get(), d_slots, d_grad, scale, 3, stream);
            table_lookup(device.get(), d_slots, d_out, 3, stream);
        });
        std::vector<double> right;
        for (const int32_t slot : slots)
            for (int64_t col = 0; col < 4; ++col)
                right.push_back(host.rows[at(slot * 4 + col)] + 1.0 - 4.0);
        grade.expect("rows", right, [](int64_t) { return 1e-3; });
    };
    for (const auto& [name, idea, backward] :
         wb::implementations("table_backward", table_backward))
        judge(name, backward);
    judge("table_backward_sorted", table_backward_sorted);
}

TEST_CASE("rows of more than 1024 packs, and a slot more than 1024 times") {
    grade_lookup({1, 4104, 7, 1, Policy::lru}, 3);
    grade_backward({1, 4104, 7, 1, Policy::lru}, 3, 2.0f);
    grade_backward({1, 1, 7, 1, Policy::lru}, 6000, 0.25f);
}

TEST_CASE("more than 2^16 slots in a call", "[long]") {
    const TableShape shape = {37, 1, 7, 37, Policy::lru};
    grade_lookup(shape, 65'541);
    grade_backward_one("table_backward", table_backward, false, shape, 65'541, 0.5f);
}

TEST_CASE("edges meet: rows, gradients, hot places") {
    static const auto cases = wb::testing::Covering()
                                  .factor("n", {1, 5, 64, 300})
                                  .factor("cols", {1, 2, 4, 12, 130})
                                  .factor("buckets", {1, 2, 5})
                                  .factor("hot", {0, 1, 7, 14})
                                  .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            const TableShape shape = {
                c["buckets"], c["cols"], static_cast<int>(c["hot"])};
            grade_lookup(shape, c["n"]);
            grade_backward(shape, c["n"], 0.5f);
        }
}

TEST_CASE("rows: calls have nothing in common") {
    const auto grade = [](int64_t buckets, int64_t n) {
        const TableShape shape = {buckets, 4, 5, buckets, Policy::lfu};
        grade_lookup(shape, n);
        grade_backward(shape, n, 2.0f);
    };
    wb::testing::expect_independent([&] { grade(3, 20); }, [&] { grade(30, 400); });
}
