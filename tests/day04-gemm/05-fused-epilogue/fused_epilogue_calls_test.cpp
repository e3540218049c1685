// Grades day04-gemm/05-fused-epilogue: arguments, neighbours, nothing to do.
#include "backward.h"
#include "fp8.h"
#include "mlp.h"
#include "refusals.h"

using namespace fused_epilogue_grading;
using wb::testing::Refuses;

namespace {

struct LinearArguments {
    LinearInput in;
    Bf16* y;
    Bf16* z;
};
struct NarrowArguments {
    LinearInput in;
    const float* scale;
    __nv_fp8_e4m3* y;
    float* amax;
};
struct BackwardArguments {
    LinearGradient in;
    Bf16* dz;
    float* dbias;
};
struct MlpArguments {
    MlpInput in;
    Bf16* y;
};

constexpr int64_t kOfX = 3 * 9 + 8;
constexpr int64_t kOfW = 5 * 10 + 8;
constexpr int64_t kOfY = 3 * 7 + 6;

// What most of them have.
constexpr auto x = [](auto& a) -> auto& {
    return a.in.x;
};
constexpr auto w = [](auto& a) -> auto& {
    return a.in.w;
};
constexpr auto bias = [](auto& a) -> auto& {
    return a.in.bias;
};
constexpr auto residual = [](auto& a) -> auto& {
    return a.in.residual;
};
constexpr auto y = [](auto& a) -> auto& {
    return a.y;
};

/// What linear_act() and linear_act_fp8() refuse of pointers that they both have.
template <class R>
void refuse_layer(R& refuse) {
    refuse_shapes(refuse);
    refuse_pointer(refuse, "x", false, x);
    refuse_pointer(refuse, "w", false, w);
    refuse_pointer(refuse, "bias", true, bias);
    refuse_pointer(refuse, "residual", true, residual);
    refuse_pointer(refuse, "y", false, y);
    refuse_overlap(refuse, "y - x", y, kOfY, x, kOfX);
    refuse_overlap(refuse, "y - w", y, kOfY, w, kOfW);
    refuse_overlap(refuse, "y - bias", y, kOfY, bias, 6);
    refuse_overlap(refuse, "y - residual", y, kOfY, residual, kOfY);
}

/// The same of another array that is written.
template <class R, class Output>
void refuse_layers_overlap(R& refuse,
                           const std::string& name,
                           Output output,
                           int64_t of) {
    refuse_overlap(refuse, name + " - x", output, of, x, kOfX);
    refuse_overlap(refuse, name + " - w", output, of, w, kOfW);
    refuse_overlap(refuse, name + " - bias", output, of, bias, 6);
    refuse_overlap(refuse, name + " - residual", output, of, residual, kOfY);
    refuse_overlap(refuse, name + " - y", output, of, y, kOfY);
}

}  // namespace

TEST_CASE("linear_act: wrong arguments are refused by name") {
    const Places d("linear_act");
    const auto call = [](const LinearArguments& a, cudaStream_t stream) {
        linear_act(a.in, a.y, a.z, stream);
    };
    Refuses<LinearArguments> refuse = {
        "linear_act",
        call,
        {{kShape, Activation::silu, d[0], d[1], d[2], d[3]}, d[4], d[5]}};
    const auto z = [](auto& a) -> auto& {
        return a.z;
    };
    refuse.older_gpu();
    refuse_layer(refuse);
    refuse_pointer(refuse, "z", true, z);
    refuse_layers_overlap(refuse, "z", z, kOfY);
    refuse("z - residual", [](auto& a) { a.z = const_cast<Bf16*>(a.in.residual); });
    // Also where there is nothing to do.
    refuse("shape.K is -1", [](auto& a) { a.in.shape.M = 0, a.in.shape.K = -1; });
    refuse("shape.ldw is 7", [](auto& a) { a.in.shape.M = 0, a.in.shape.ldw = 7; });
    refuse("shape.M is -1", [](auto& a) { a.in.shape.N = 0, a.in.shape.M = -1; });
}

TEST_CASE("linear_act_fp8: wrong arguments are refused by name") {
    const Places d("linear_act_fp8");
    const auto call = [](const NarrowArguments& a, cudaStream_t stream) {
        linear_act_fp8(a.in, a.scale, a.y, a.amax, stream);
    };
    Refuses<NarrowArguments> refuse = {
        "linear_act_fp8",
        call,
        {{kShape, Activation::silu, d[0], d[1], d[2], d[3]},
         reinterpret_cast<float*>(d[4]),
         reinterpret_cast<__nv_fp8_e4m3*>(d[5]),
         reinterpret_cast<float*>(d[6])}};
    const auto scale = [](auto& a) -> auto& {
        return a.scale;
    };
    const auto amax = [](auto& a) -> auto& {
        return a.amax;
    };
    refuse.older_gpu();
    refuse_layer(refuse);
    refuse_pointer(refuse, "scale", false, scale);
    refuse_pointer(refuse, "amax", false, amax);
    refuse_layers_overlap(refuse, "amax", amax, 1);
    refuse_overlap(refuse, "y - scale", y, kOfY, scale, 1);
    refuse_overlap(refuse, "amax - scale", amax, 1, scale, 1);
    refuse("y - residual", [](auto& a) {  // other than a y of 16 bits
        a.in.residual = reinterpret_cast<const Bf16*>(a.y);
    });
}

TEST_CASE("linear_act_backward: wrong arguments are refused by name") {
    const Places d("linear_act_backward");
    const auto call = [](const BackwardArguments& a, cudaStream_t stream) {
        linear_act_backward(a.in, a.dz, a.dbias, stream);
    };
    Refuses<BackwardArguments> refuse = {"linear_act_backward",
                                         call,
                                         {{kShape, Activation::silu, d[0], d[1], d[2]},
                                          d[3],
                                          reinterpret_cast<float*>(d[4])}};
    refuse.older_gpu();
    refuse_shapes(refuse);
    const auto dy = [](auto& a) -> auto& {
        return a.in.dy;
    };
    const auto z = [](auto& a) -> auto& {
        return a.in.z;
    };
    const auto dz = [](auto& a) -> auto& {
        return a.dz;
    };
    const auto dbias = [](auto& a) -> auto& {
        return a.dbias;
    };
    refuse_pointer(refuse, "dy", false, dy);
    refuse_pointer(refuse, "w", false, w);
    refuse_pointer(refuse, "z", false, z);
    refuse_pointer(refuse, "dz", false, dz);
    refuse_pointer(refuse, "dbias", true, dbias);
    refuse_overlap(refuse, "dz - dy", dz, kOfX, dy, kOfY);
    refuse_overlap(refuse, "dz - w", dz, kOfX, w, kOfW);
    refuse_overlap(refuse, "dz - z", dz, kOfX, z, kOfX);
    refuse_overlap(refuse, "dbias - dy", dbias, 8, dy, kOfY);
    refuse_overlap(refuse, "dbias - w", dbias, 8, w, kOfW);
    refuse_overlap(refuse, "dbias - z", dbias, 8, z, kOfX);
    refuse_overlap(refuse, "dbias - dz", dbias, 8, dz, kOfX);
}

TEST_CASE("mlp: wrong arguments are refused by name") {
    const Places d("mlp");
    const auto call = [](const MlpArguments& a, cudaStream_t stream) {
        mlp(a.in, a.y, stream);
    };
    Refuses<MlpArguments> refuse = {
        "mlp",
        call,
        {{4, 8, 10, 6, Activation::silu, d[0], d[1], d[2], d[3], d[4], d[5]}, d[6]}};
    refuse.older_gpu();
    refuse("M is -1", [](auto& a) { a.in.M = -1; });
    refuse("K is -1", [](auto& a) { a.in.K = -1; });
    refuse("H is -1", [](auto& a) { a.in.H = -1; });
    refuse("N is -1", [](auto& a) { a.in.N = -1; });
    refuse("M is 2147483648", [](auto& a) { a.in.M = kTooMany; });
    refuse("K is 2147483648", [](auto& a) { a.in.K = kTooMany; });
    refuse("H is 2147483648", [](auto& a) { a.in.H = kTooMany; });
    refuse("N is 2147483648", [](auto& a) { a.in.N = kTooMany; });
    refuse("activation is -1",
           [](auto& a) { a.in.activation = static_cast<Activation>(-1); });
    const auto w1 = [](auto& a) -> auto& {
        return a.in.w1;
    };
    const auto bias1 = [](auto& a) -> auto& {
        return a.in.bias1;
    };
    const auto w2 = [](auto& a) -> auto& {
        return a.in.w2;
    };
    const auto bias2 = [](auto& a) -> auto& {
        return a.in.bias2;
    };
    refuse_pointer(refuse, "x", false, x);
    refuse_pointer(refuse, "w1", false, w1);
    refuse_pointer(refuse, "bias1", true, bias1);
    refuse_pointer(refuse, "w2", false, w2);
    refuse_pointer(refuse, "bias2", true, bias2);
    refuse_pointer(refuse, "residual", true, residual);
    refuse_pointer(refuse, "y", false, y);
    refuse_overlap(refuse, "y - x", y, 24, x, 32);
    refuse_overlap(refuse, "y - w1", y, 24, w1, 80);
    refuse_overlap(refuse, "y - bias1", y, 24, bias1, 10);
    refuse_overlap(refuse, "y - w2", y, 24, w2, 60);
    refuse_overlap(refuse, "y - bias2", y, 24, bias2, 6);
    refuse_overlap(refuse, "y - residual", y, 24, residual, 24);
}

TEST_CASE("nothing to do: nothing is launched") {
    // Each function by itself: one may not be written yet.
    const auto nothing = {Call{0, 7, 5}, Call{7, 0, 5}, Call{0, 0, 0}};
    const auto input = [](const Call& c) {
        return LinearInput{
            c.shape(), Activation::silu, nullptr, nullptr, nullptr, nullptr};
    };
    Grader linear("linear_act", "M = 0, or N = 0");
    linear.expect_no_work([&](cudaStream_t stream) {
        for (const Call& c : nothing)
            linear_act(input(c), nullptr, nullptr, stream);
    });
    Grader narrow("linear_act_fp8", "M = 0, or N = 0");
    narrow.expect_no_work([&](cudaStream_t stream) {
        for (const Call& c : nothing)
            linear_act_fp8(input(c), nullptr, nullptr, nullptr, stream);
    });
    Grader backward("linear_act_backward", "M = 0, or K = 0");
    backward.expect_no_work([](cudaStream_t stream) {
        for (const Call& c : {Call{0, 7, 5}, Call{7, 5, 0}, Call{0, 0, 0}}) {
            const LinearGradient in = {
                c.shape(), Activation::silu, nullptr, nullptr, nullptr};
            linear_act_backward(in, nullptr, nullptr, stream);
        }
    });
    Grader layers("mlp", "M = 0, or N = 0");
    layers.expect_no_work([](cudaStream_t stream) {
        for (const auto& [M, N] : {std::pair{0, 7}, std::pair{7, 0}}) {
            MlpInput in = {M, 5, 6, N, Activation::silu, {}, {}, {}, {}, {}, {}};
            mlp(in, nullptr, stream);
        }
    });
}

TEST_CASE("without inputs, x and w are not looked at") {
    // Pointers that would be refused if anything were read there.
    Grader grade("linear_act", "K = 0, x and w are null");
    Bf16* const y = grade.output<Bf16>("y", {3, 4});
    const LinearInput in = {
        {3, 4, 0, 0, 0, 4}, Activation::silu, nullptr, nullptr, nullptr, nullptr};
    grade.run([&](cudaStream_t stream) { linear_act(in, y, nullptr, stream); });
    grade.expect("y", std::vector<double>(12, 0.0), [](int64_t) { return 0.0; });

    const auto is_zero = [](Grader& of, const char* array, size_t count) {
        of.expect(array, std::vector<double>(count, 0.0), [](int64_t) { return 0.0; });
    };
    Grader fp8("linear_act_fp8", "K = 0, x and w are null");
    auto* const y8 = fp8.output<__nv_fp8_e4m3>("y", {3, 4});
    float* const amax = fp8.output<float>("amax", {1});
    const float* const scale = fp8.input("scale", std::vector<float>{2.0f});
    fp8.run([&](cudaStream_t s) { linear_act_fp8(in, scale, y8, amax, s); });
    is_zero(fp8, "y", 12);
    is_zero(fp8, "amax", 1);

    Grader backward("linear_act_backward", "N = 0, dy and w are null");
    const auto* const z_in = backward.input("z", std::vector<Bf16>(12, Bf16(1.0f)));
    Bf16* const dz = backward.output<Bf16>("dz", {3, 4});
    float* const dbias = backward.output<float>("dbias", {4});
    const LinearGradient gradient = {
        {3, 0, 4, 4, 4, 0}, Activation::silu, nullptr, nullptr, z_in};
    backward.run([&](cudaStream_t s) { linear_act_backward(gradient, dz, dbias, s); });
    is_zero(backward, "dz", 12);
    is_zero(backward, "dbias", 4);

    Grader layers("mlp", "H = 0, all inputs are null");
    Bf16* const out = layers.output<Bf16>("y", {3, 4});
    const MlpInput nothing = {3, 5, 0, 4, Activation::silu, {}, {}, {}, {}, {}, {}};
    layers.run([&](cudaStream_t s) { mlp(nothing, out, s); });
    is_zero(layers, "y", 12);
}
