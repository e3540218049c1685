/// losses_cases.h: what the tests of this chapter have in common: inputs, a launch of
/// each function, and what is right.
#pragma once

#include "losses.h"

#include <wb/implementations.h>
#include <wb/reference/losses.h>
#include <wb/testing/bounds.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace losses_cases {

using wb::testing::float_bound;
using wb::testing::gamma;
using wb::testing::Grader;
using wb::testing::kSmallestFloat;

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kEps = 1e-12f;

using Floats = std::vector<float>;

inline size_t at(int64_t i) {
    return static_cast<size_t>(i);
}

/// An input that begins at element `from`; those before it must not be counted.
template <class T>
const T* input(Grader& grade,
               const char* name,
               const std::vector<T>& values,
               int64_t from) {
    std::vector<T> all(at(from), T(1e9));
    all.insert(all.end(), values.begin(), values.end());
    return grade.input(name, all) + from;
}

/// The same, or null for none.
inline const float* input_if(Grader& grade,
                             const char* name,
                             const Floats& values,
                             int64_t from) {
    return values.empty() ? nullptr : input(grade, name, values, from);
}

/// An output that begins at element `from`; those before it must stay.
struct Output {
    Output(Grader& in_grade, const char* in_name, int64_t count, int64_t in_from)
        : grade(in_grade), name(in_name), from(in_from) {
        if (from == 0)
            data = grade.output<float>(name, {count});
        else
            data = grade.in_out(name, {from + count}, Floats(at(from + count), 7.0f)) +
                   from;
    }
    void expect(const std::vector<double>& values, const wb::testing::Bound& bound) {
        std::vector<double> all(at(from), 7.0);
        all.insert(all.end(), values.begin(), values.end());
        grade.expect(
            name, all, [&](int64_t i) { return i < from ? 0.0 : bound(i - from); });
    }

    Grader& grade;
    const char* name;
    int64_t from;
    float* data;
};

/// While one lives, the contract's functions alone are graded, and not all versions.
class ContractAlone {
 public:
    ContractAlone() { is_on_ = true; }
    ~ContractAlone() { is_on_ = false; }
    ContractAlone(const ContractAlone&) = delete;
    ContractAlone& operator=(const ContractAlone&) = delete;

    static bool is_on() { return is_on_; }

 private:
    static inline bool is_on_ = false;
};

/// What is graded of a function.
template <class Function>
std::vector<wb::Implementation<Function>> versions(const char* name,
                                                   Function* contract) {
    if (ContractAlone::is_on()) return {{name, "", contract}};
    return wb::implementations(name, contract);
}

/// A bound for a value that may be infinite or NaN: those must be met.
inline double bound_if_finite(double bound) {
    return std::isfinite(bound) ? bound : 0.0;
}

inline Floats floats(const std::vector<double>& values) {
    return Floats(values.begin(), values.end());
}

/// Rows; x and dy begin at element `from` of their memory, y and dx at `to`.
struct Rows {
    int64_t rows;
    int64_t columns;
    int64_t from = 0;
    int64_t to = 0;

    std::string text() const {
        return "rows " + std::to_string(rows) + ", columns " + std::to_string(columns) +
               ", from " + std::to_string(from) + ", to " + std::to_string(to);
    }
    /// Roundings of a sum of a row, as the contract allows.
    double roundings() const {
        return static_cast<double>(
            std::min(columns, 40 + std::max<int64_t>(128, columns / 32)));
    }
};

/// l2_normalize(), all versions.
inline void grade_l2(const Rows& s,
                     const Floats& x,
                     const std::string& what,
                     float eps = kEps) {
    const auto exact = wb::reference::l2_normalize(x, s.rows, s.columns, eps);
    for (const auto& [name, idea, call] : versions("l2_normalize", &l2_normalize)) {
        Grader grade(name, s.text() + what);
        const float* d_x = input(grade, "x", x, s.from);
        Output y(grade, "y", s.rows * s.columns, s.to);
        Output norms(grade, "norms", s.rows, s.from);
        grade.run([&, call = call](cudaStream_t stream) {
            call(d_x, y.data, norms.data, {s.rows, s.columns, eps}, stream);
        });
        // Squares of less than 2^-126 lose digits: as much as 2^-150 each.
        const auto of_norm = [&](int64_t r) {
            const double norm = exact.norms[at(r)];
            const double tiny = std::sqrt(static_cast<double>(s.columns) * 0x1p-149);
            return bound_if_finite(gamma(s.roundings() / 2.0 + 3.0, 0x1p-24) * norm +
                                   (norm < 0x1p-50 ? tiny : 0.0));
        };
        norms.expect(exact.norms, of_norm);
        y.expect(exact.y, [&](int64_t i) {
            const double norm = exact.norms[at(i / s.columns)];
            const double relative =
                3e-7 + (norm < eps ? 0.0 : of_norm(i / s.columns) / norm);
            return bound_if_finite(relative * std::abs(exact.y[at(i)]) +
                                   kSmallestFloat);
        });
    }
}

/// l2_normalize_backward(), all versions, from what the forward pass gives for x.
inline void grade_l2_backward(const Rows& s,
                              const Floats& x,
                              const Floats& dy,
                              const std::string& what,
                              float eps = kEps,
                              bool after_another = false) {
    const auto forward = wb::reference::l2_normalize(x, s.rows, s.columns, eps);
    const Floats y = floats(forward.y);
    const Floats norms = floats(forward.norms);
    const auto exact =
        wb::reference::l2_normalize_backward(dy, y, norms, s.columns, eps);
    for (const auto& [name, idea, call] :
         versions("l2_normalize_backward", &l2_normalize_backward)) {
        Grader grade(name, s.text() + what);
        const float* d_dy = input(grade, "dy", dy, s.from);
        const float* d_y = input(grade, "y", y, s.from);
        const float* d_norms = input(grade, "norms", norms, s.to);
        Output dx(grade, "dx", s.rows * s.columns, s.to);
        const auto run = [&, call = call](float with_eps) {
            grade.run([&](cudaStream_t stream) {
                call(
                    d_dy, d_y, d_norms, dx.data, {s.rows, s.columns, with_eps}, stream);
            });
        };
        if (after_another) run(100.0f * eps);  // in the same arrays
        run(eps);
        dx.expect(exact.value, [&](int64_t i) {
            return bound_if_finite(
                float_bound(s.roundings() + 6.0, exact.magnitude[at(i)]));
        });
    }
}

/// A problem of bce_with_logits(); weights may be empty.
struct Bce {
    Floats logits;
    Floats targets;
    Floats weights;
    float pos_weight = 1.0f;
    int64_t from = 0;   ///< where logits and dlogits begin
    int64_t other = 0;  ///< where targets and weights begin

    int64_t n() const { return static_cast<int64_t>(logits.size()); }
    std::string text() const {
        return "n = " + std::to_string(n()) + (weights.empty() ? "" : ", weights") +
               ", pos_weight " + std::to_string(pos_weight) + ", from " +
               std::to_string(from) + ", others from " + std::to_string(other);
    }
    BceInput on(Grader& grade) const {
        return {input(grade, "logits", logits, from),
                input(grade, "targets", targets, other),
                input_if(grade, "weights", weights, other),
                pos_weight,
                n()};
    }
};

/// bce_with_logits() and its backward pass, all versions.
inline void grade_bce(const Bce& p, const std::string& what) {
    const auto exact =
        wb::reference::bce_with_logits(p.logits, p.targets, p.weights, p.pos_weight);
    for (const auto& [name, idea, call] :
         versions("bce_with_logits", &bce_with_logits)) {
        Grader grade(name, p.text() + what);
        const BceInput in = p.on(grade);
        Output loss(grade, "loss", 1, 0);
        grade.run([&, call = call](cudaStream_t s) { call(in, loss.data, s); });
        const auto n = static_cast<double>(p.n());
        const double roundings = 24.0 + std::min(n, 40.0 + n / 256.0);
        loss.expect({exact.value}, [&](int64_t) {
            return bound_if_finite(float_bound(roundings, exact.magnitude));
        });
    }
}

inline void grade_bce_backward(const Bce& p,
                               const std::string& what,
                               float grad_loss = 1.0f) {
    const auto exact = wb::reference::bce_with_logits_backward(
        p.logits, p.targets, p.weights, p.pos_weight, grad_loss);
    for (const auto& [name, idea, call] :
         versions("bce_with_logits_backward", &bce_with_logits_backward)) {
        Grader grade(name, p.text() + what);
        const BceInput in = p.on(grade);
        const float* d_grad = input(grade, "grad_loss", Floats{grad_loss}, p.other);
        Output dlogits(grade, "dlogits", p.n(), p.from);
        grade.run(
            [&, call = call](cudaStream_t s) { call(in, d_grad, dlogits.data, s); });
        dlogits.expect(exact.value, [&](int64_t i) {
            return bound_if_finite(float_bound(24.0, exact.magnitude[at(i)]));
        });
    }
}

}  // namespace losses_cases
