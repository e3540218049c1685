// Grades day07-tuning/06-cuda-graphs.
#include "cuda_graphs.h"

#include <wb/implementations.h>
#include <wb/testing/catch.h>
#include <wb/testing/fail.h>
#include <wb/testing/goal.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>
#include <wb/testing/simulator.h>

#include <cmath>
#include <string>

#include "graph.h"
#include "model.h"

namespace {

using wb::testing::Goal;
using wb::testing::Grader;
using wb::testing::StreamOrder;

constexpr DecoderShape kSmall = {3, 32, 12};

/// Random weights, small enough that the token grows slowly.
std::vector<float> random_weights(int matrix, int64_t count) {
    auto values =
        wb::testing::random_normal(count, 100 + static_cast<uint64_t>(matrix));
    for (float& value : values)
        value = std::clamp(value, -3.0f, 3.0f) * 0.1f;
    return values;
}

std::vector<float> token(const DecoderShape& shape) {
    return wb::testing::random_normal(shape.width, 7);
}

/// Copies an array of the model to one of the grader's, behind what the stream does.
void copy_behind(float* to, const float* from, int64_t count, cudaStream_t stream) {
    CUDA_CHECK(cudaMemcpyAsync(to,
                               from,
                               static_cast<size_t>(count) * sizeof(float),
                               cudaMemcpyDeviceToDevice,
                               stream));
}

/// The token and the cache after steps at these positions, launched one by one.
struct Result {
    std::vector<double> x, cache;
};

Result one_by_one(const DecoderShape& shape, const std::vector<int>& positions) {
    const Model model(shape, random_weights);
    model.begin(token(shape));
    for (const int position : positions)
        launch_step(model.decoder(), position, nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
    const auto read = [](const float* device, int64_t count) {
        std::vector<float> values(static_cast<size_t>(count));
        CUDA_CHECK(cudaMemcpy(values.data(),
                              device,
                              values.size() * sizeof(float),
                              cudaMemcpyDeviceToHost));
        return std::vector<double>(values.begin(), values.end());
    };
    return {read(model.decoder().x, shape.width),
            read(model.decoder().cache, model.cache_size())};
}

using Make = std::unique_ptr<Stepper>(const Decoder&);

/// The steps must not write to the weights.
void watch_weights(Grader& grade, const Decoder& d) {
    const int64_t count = int64_t{d.shape.layers} * d.shape.width * d.shape.width;
    grade.only_read("query_weights", d.query_weights, count);
    grade.only_read("key_weights", d.key_weights, count);
    grade.only_read("output_weights", d.output_weights, count);
}

/// All steps are queued before anybody waits; token and cache must have the same bits.
void grade_steps(const std::string& name,
                 Make* make,
                 const DecoderShape& shape,
                 const std::vector<int>& positions,
                 const Result& expected,
                 const std::string& case_text) {
    Grader grade(name, case_text);
    const Model model(shape, random_weights);
    watch_weights(grade, model.decoder());
    float* x = grade.output<float>("x", {shape.width});
    float* cache =
        grade.output<float>("cache", {shape.layers, shape.positions, shape.width});
    grade.run_and_wait([&](cudaStream_t stream) {
        model.begin(token(shape));
        Decoder given = model.decoder();
        const std::unique_ptr<Stepper> stepper = make(given);
        given = {};  // the caller's; what it pointed to stays
        for (const int position : positions)
            stepper->step(position, stream);
        copy_behind(x, model.decoder().x, shape.width, stream);
        copy_behind(cache, model.decoder().cache, model.cache_size(), stream);
        CUDA_CHECK(cudaStreamSynchronize(stream));
    });
    const auto exactly = [](int64_t) { return 0.0; };
    grade.expect("cache", expected.cache, exactly);
    grade.expect("x", expected.x, exactly);
}

void grade_all(const DecoderShape& shape,
               const std::vector<int>& positions,
               const std::string& case_text) {
    const Result expected = one_by_one(shape, positions);
    for (const auto& [name, idea, make] :
         wb::implementations("make_stepper", make_stepper))
        grade_steps(name, make, shape, positions, expected, case_text);
}

/// A step from which the token comes out as one can say beforehand: no query, and unit
/// matrices for key and output. All that a token sees are the empty places before
/// `position` and itself, with equal weights; so each layer adds x / |x| divided by
/// their number to an x of which all |x| are the same.
void grade_known(const std::string& name,
                 Make* make,
                 const DecoderShape& shape,
                 int position) {
    const auto weights = [&](int matrix, int64_t count) {
        std::vector<float> values(static_cast<size_t>(count), 0.0f);
        for (int64_t i = 0; i < count; ++i)
            if (matrix > 0 && i / shape.width % shape.width == i % shape.width)
                values[static_cast<size_t>(i)] = 1.0f;
        return values;
    };
    const double added = static_cast<double>(shape.layers) / (position + 1);
    std::vector<float> in(static_cast<size_t>(shape.width));
    std::vector<double> expected;
    for (int i = 0; i < shape.width; ++i) {
        in[static_cast<size_t>(i)] = i % 3 == 0 ? -2.0f : 2.0f;
        expected.push_back(i % 3 == 0 ? -2.0 - added : 2.0 + added);
    }
    Grader grade(name,
                 "one step at position " + std::to_string(position) + ", " +
                     std::to_string(shape.layers) + " layers of unit matrices");
    const Model model(shape, weights);
    watch_weights(grade, model.decoder());
    float* x = grade.output<float>("x", {shape.width});
    grade.run_and_wait([&](cudaStream_t stream) {
        model.begin(in);
        const auto stepper = make(model.decoder());
        stepper->step(position, stream);
        copy_behind(x, model.decoder().x, shape.width, stream);
        CUDA_CHECK(cudaStreamSynchronize(stream));
    });
    grade.expect("x", expected, [](int64_t) { return 0.0; });
}

}  // namespace

TEST_CASE("a step of which the result is known") {
    for (const auto& [name, idea, make] :
         wb::implementations("make_stepper", make_stepper))
        grade_known(name, make, {4, 64, 2}, 0);
}

TEST_CASE("more than a thousand layers", "[large]") {
    grade_known("make_stepper", make_stepper, {1030, 32, 2}, 1);
}

TEST_CASE("every step is what launching one by one gives") {
    grade_all(kSmall, {0, 1, 2, 3, 4, 5}, "positions 0 to 5");
}

TEST_CASE("positions in any order") {
    grade_all(kSmall, {0, 1, 2, 1, 5, 11, 0}, "positions 0 1 2 1 5 11 0");
}

TEST_CASE("one layer, one position") {
    grade_all(
        GENERATE(DecoderShape{1, 32, 1}, DecoderShape{2, 96, 3}), {0}, "one step");
}

TEST_CASE("a width that fills several blocks", "[large]") {
    grade_all({1, 288, 40}, {0, 1, 39}, "width 288");
}

TEST_CASE("any order of the streams that the events allow") {
    const auto seed = GENERATE(range(1u, 7u));
    const StreamOrder order(seed);
    grade_all({2, 32, 4}, {0, 1, 2, 3}, "streams in order " + std::to_string(seed));
}

TEST_CASE("each step is on the stream that it is given") {
    const StreamOrder order(GENERATE(range(1u, 5u)));
    const Result expected = one_by_one(kSmall, {0, 1, 2, 3});
    for (const auto& [name, idea, make] :
         wb::implementations("make_stepper", make_stepper)) {
        Grader grade(name, "four steps on two streams in turn");
        const Model model(kSmall, random_weights);
        float* x = grade.output<float>("x", {kSmall.width});
        const Lane lane;
        grade.run_and_wait([&, make = make](cudaStream_t stream) {
            model.begin(token(kSmall));
            const auto stepper = make(model.decoder());
            Event done;
            for (const int position : {0, 1, 2, 3}) {
                const cudaStream_t now = position % 2 == 0 ? stream : lane;
                if (position > 0) done.hold(now);
                stepper->step(position, now);
                done.record(now);
            }
            copy_behind(x, model.decoder().x, kSmall.width, lane);
            CUDA_CHECK(cudaStreamSynchronize(lane));
        });
        grade.expect("x", expected.x, [](int64_t) { return 0.0; });
    }
}

TEST_CASE("more positions than 12 bits count") {
    grade_all({1, 32, 8192}, {8191, 300, 4096, 0}, "positions 8191 300 4096 0");
}

TEST_CASE("two decoders that take turns") {
    const Result expected = one_by_one(kSmall, {0, 1, 2});
    for (const auto& [name, idea, make] :
         wb::implementations("make_stepper", make_stepper)) {
        Grader grade(name, "two decoders that take turns");
        const Model first(kSmall, random_weights);
        const Model second(kSmall, random_weights);
        float* x = grade.output<float>("x of the first", {kSmall.width});
        float* y = grade.output<float>("x of the second", {kSmall.width});
        grade.run_and_wait([&, make = make](cudaStream_t stream) {
            first.begin(token(kSmall));
            second.begin(token(kSmall));
            const auto a = make(first.decoder());
            const auto b = make(second.decoder());
            for (const int position : {0, 1, 2}) {
                a->step(position, stream);
                b->step(position, stream);
            }
            copy_behind(x, first.decoder().x, kSmall.width, stream);
            copy_behind(y, second.decoder().x, kSmall.width, stream);
            CUDA_CHECK(cudaStreamSynchronize(stream));
        });
        grade.expect("x of the first", expected.x, [](int64_t) { return 0.0; });
        grade.expect("x of the second", expected.x, [](int64_t) { return 0.0; });
    }
}

TEST_CASE("steps are queued, and the host does not wait") {
    const Result expected = one_by_one(kSmall, {0, 1});
    for (const auto& [name, idea, make] :
         wb::implementations("make_stepper", make_stepper)) {
        Grader grade(name, "positions 0 and 1");
        const Model model(kSmall, random_weights);
        model.begin(token(kSmall));
        const auto stepper =
            wb::testing::result_of([&, make = make] { return make(model.decoder()); });
        const float* in = grade.input("token", token(kSmall));
        float* x = grade.output<float>("x", {kSmall.width});
        grade.run([&](cudaStream_t stream) {
            copy_behind(model.decoder().x, in, kSmall.width, stream);
            for (const int position : {0, 1})
                stepper->step(position, stream);
            copy_behind(x, model.decoder().x, kSmall.width, stream);
        });
        grade.expect("x", expected.x, [](int64_t) { return 0.0; });
    }
}

TEST_CASE("nothing is kept from one decoder to the next") {
    // Not from two threads at once: the one may capture while the other waits.
    for (const DecoderShape& shape : {kSmall, DecoderShape{2, 64, 5}, kSmall})
        grade_all(shape, {0, 1, 4}, "positions 0 1 4, decoders one after the other");
}

TEST_CASE("a position that the cache has no room for is refused") {
    using wb::testing::expect_refused;
    const Model model(kSmall, random_weights);
    for (const int position : {-1, kSmall.positions})
        expect_refused("make_stepper",
                       "position " + std::to_string(position),
                       "position is " + std::to_string(position),
                       [&] { make_stepper(model.decoder())->step(position, nullptr); });
}

TEST_CASE("shapes that the kernels do not support are refused") {
    using wb::testing::expect_refused;
    const auto refused = [](const DecoderShape& shape, const std::string& part) {
        Decoder decoder{};
        decoder.shape = shape;
        expect_refused(
            "make_stepper", "a wrong shape", part, [&] { make_stepper(decoder); });
    };
    refused({0, 32, 4}, "shape.layers is 0");
    refused({1, 33, 4}, "shape.width is 33");
    refused({1, 2048, 4}, "shape.width is 2048");
    refused({1, 32, 0}, "shape.positions is 0");
    refused({1, 32, 8193}, "shape.positions is 8193");
}

TEST_CASE("a graph is instantiated once", "[.][goal]") {
    constexpr int kSteps = 8;
    const Model model(kSmall, random_weights);
    model.begin(token(kSmall));
    const Goal goal("make_stepper");
    const unsigned long before = wb::testing::graphs_instantiated();
    const auto stepper = make_stepper(model.decoder());
    for (int position = 0; position < kSteps; ++position)
        stepper->step(position, nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
    const unsigned long count = wb::testing::graphs_instantiated() - before;
    goal.require(count >= 1, "no graph is used: each kernel is launched by itself");
    goal.require(count == 1,
                 "in " + std::to_string(kSteps) + " steps, " + std::to_string(count) +
                     " graphs are instantiated; one would do, and be updated");
}
