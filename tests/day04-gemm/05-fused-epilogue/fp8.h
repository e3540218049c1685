// linear_act_fp8() graded.
#pragma once

#include "layer.h"

namespace fused_epilogue_grading {

/// What an output of 8 bits must be.
struct WantedNarrow {
    Wanted y;
    double amax = 0.0;
    double amax_bound = 0.0;

    WantedNarrow(const Wanted& v, float scale) {
        for (size_t i = 0; i < v.value.size(); ++i) {
            const double magnitude = std::abs(v.value[i]);
            const bool is_larger = std::isnan(magnitude) || magnitude > amax;
            if (is_larger && !std::isnan(amax)) amax = magnitude;
            amax_bound = std::max(amax_bound, v.bound[i]);
            const double scaled = v.value[i] * double{scale};
            const double off =
                std::isfinite(scaled)
                    ? v.bound[i] * std::abs(double{scale}) + 0x1p-22 * std::abs(scaled)
                    : 0.0;
            const double most = std::clamp(scaled, -448.0, 448.0);  // NaN stays NaN
            y.add(most, e4m3_bound(most, std::isfinite(scaled) ? off : 0.0));
        }
        if (!std::isfinite(amax)) amax_bound = 0.0;
    }
};

/// One launcher on these numbers.
inline void grade_fp8_one(const std::string& name,
                          decltype(&linear_act_fp8) launcher,
                          const Call& c,
                          const Memory& memory,
                          const WantedNarrow& wanted,
                          float scale,
                          const std::string& what,
                          bool after_another = false) {
    Grader grade(name, c.text() + ", scale " + std::to_string(scale) + what);
    const LinearInput in = add_inputs(grade, c, memory);
    const float* const d_scale = grade.input("scale", std::vector<float>{scale});
    auto* const y = add_output<__nv_fp8_e4m3>(grade, "y", c.of_y());
    float* const amax = grade.output<float>("amax", {1});
    if (after_another) {  // in the same arrays
        LinearInput before = in;
        before.shape = {c.M, c.N, c.K, c.K, c.K, c.N};
        before.activation = another(c.activation);
        grade.run(
            [&](cudaStream_t stream) { launcher(before, d_scale, y, amax, stream); });
    }
    grade.run([&](cudaStream_t stream) { launcher(in, d_scale, y, amax, stream); });
    grade.expect("amax", {wanted.amax}, [&](int64_t) { return wanted.amax_bound; });
    expect_output(grade, "y", c.of_y(), wanted.y);
}

/// All versions.
inline void grade_fp8(const Call& c,
                      const Numbers& numbers,
                      float scale,
                      const std::string& what,
                      bool after_another = false) {
    const WantedNarrow wanted(layers_of(c, numbers, false).v, scale);
    const Memory memory(c, numbers);
    for (const auto& [name, idea, launcher] :
         wb::implementations("linear_act_fp8", &linear_act_fp8))
        grade_fp8_one(name, launcher, c, memory, wanted, scale, what, after_another);
}

inline void grade_fp8(const Call& c, float scale) {
    grade_fp8(c, random_numbers(c, 2), scale, ", seed 2");
}

}  // namespace fused_epilogue_grading
