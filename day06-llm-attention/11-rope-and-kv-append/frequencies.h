/// frequencies.h: how fast each pair of a rotary embedding turns, on the host.
///
/// Pair j of R / 2 turns by theta^(-2 j / R) a position: the first one by one radian,
/// the last one by nearly 1 / theta. A model that was trained on L positions has never
/// seen the angles of the slow pairs beyond L. To use it for s times as many:
///
///     linear  all frequencies / s: positions are pressed together. Neighbours get
///             harder to tell apart
///     ntk     theta * s^(R / (R - 2)): the slowest pair turns s times as slowly, the
///             fastest one as before
///     yarn    pairs that turn 32 times or more in L positions stay as they are, those
///             that turn once or less are divided by s, a ramp between them; and
///             scores get sharper: both q and k are multiplied by 0.1 ln(s) + 1
///
/// Sources: J. Su and others, RoFormer, 2021, arXiv:2104.09864. S. Chen and others,
/// Extending context window of large language models via positional interpolation,
/// 2023, arXiv:2306.15595. B. Peng and others, YaRN, 2023, arXiv:2309.00071.
#pragma once

#include <wb/arguments.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

enum class RopeScaling : int32_t { none, linear, ntk, yarn };

/// A rotary embedding, before there are positions.
struct RopeModel {
    int64_t rotary_dim;  ///< R, even
    double theta = 10000.0;
    RopeScaling scaling = RopeScaling::none;
    double factor = 1.0;      ///< s, >= 1
    double trained = 4096.0;  ///< L, for yarn
};

// #region frequencies
/// Radians a position, for each pair. Throws wb::InvalidArgument for an odd or negative
/// rotary_dim, theta or trained <= 0, factor < 1.
inline std::vector<double> rope_frequencies(const RopeModel& model) {
    const double R = static_cast<double>(model.rotary_dim);
    wb::Arguments("rope_frequencies")
        .require(model.rotary_dim >= 0 && model.rotary_dim % 2 == 0,
                 "rotary_dim",
                 model.rotary_dim,
                 "must be even and >= 0")
        .above_zero("theta", model.theta)
        .above_zero("trained", model.trained)
        .require_real(model.factor >= 1.0, "factor", model.factor, "must be >= 1");
    double theta = model.theta;
    if (model.scaling == RopeScaling::ntk && model.rotary_dim > 2)
        theta *= std::pow(model.factor, R / (R - 2.0));
    std::vector<double> frequencies;
    for (int64_t j = 0; j < model.rotary_dim / 2; ++j) {
        double f = std::pow(theta, -2.0 * static_cast<double>(j) / R);
        if (model.scaling == RopeScaling::linear) f /= model.factor;
        if (model.scaling == RopeScaling::yarn) {
            const double turns = model.trained * f / (2.0 * 3.14159265358979323846);
            const double kept = std::clamp((turns - 1.0) / (32.0 - 1.0), 0.0, 1.0);
            f *= kept + (1.0 - kept) / model.factor;
        }
        frequencies.push_back(f);
    }
    return frequencies;
}

/// What cosines and sines are multiplied by.
inline double rope_magnitude(const RopeModel& model) {
    if (model.scaling != RopeScaling::yarn) return 1.0;
    return 0.1 * std::log(model.factor) + 1.0;
}
// #endregion frequencies
