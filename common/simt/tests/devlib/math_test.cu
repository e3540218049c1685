// Functions that are not exact by definition, against formulas in (long) double.
//
// The bounds are those of CUDA's documentation, in units of the last place, so that the
// program passes on a GPU.
#include <cmath>

#include "check.h"

namespace {

constexpr int kPoints = 2000;

/// The function's result and a reference for it, at x.
struct Pair {
    double got;
    double reference;
};

template <class F>
__global__ void evaluate(double* out, double low, double high) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kPoints) return;
    out[i] = F::value(static_cast<typename F::Real>(low + (high - low) * i / kPoints));
}

/// Checks that F::value is within `ulps` of F::reference on [low, high].
template <class F>
void expect_close(const char* name, double low, double high, double ulps) {
    using Real = typename F::Real;
    const check::Array<double> out(kPoints);
    evaluate<F><<<(kPoints + 127) / 128, 128>>>(out.data(), low, high);
    const auto got = out.host();
    double worst = 0;
    for (int i = 0; i < kPoints; ++i) {
        const auto x = static_cast<Real>(low + (high - low) * i / kPoints);
        const long double reference = F::reference(x);
        const auto size = static_cast<Real>(std::fabs(reference));
        const double ulp = std::nextafter(size, Real(INFINITY)) - double(size);
        const double error = std::fabs(double((got[i] - reference) / ulp));
        if (!(error <= worst)) worst = error;
    }
    if (!(worst <= ulps)) std::printf("  %s: error of %g ulp\n", name, worst);
    check::expect(worst <= ulps, name);
}

#define FUNCTION(NAME, REAL, VALUE, REFERENCE)                            \
    struct NAME {                                                         \
        using Real = REAL;                                                \
        __device__ static double value(REAL x) { return VALUE; }          \
        static long double reference(long double x) { return REFERENCE; } \
    };

const long double kPi = 3.14159265358979323846264338327950288L;

FUNCTION(RsqrtFloat, float, rsqrtf(x), 1 / sqrtl(x))
FUNCTION(RsqrtDouble, double, rsqrt(x), 1 / sqrtl(x))
FUNCTION(RcbrtFloat, float, rcbrtf(x), 1 / cbrtl(x))
FUNCTION(ExpFloat, float, expf(x), expl(x))
FUNCTION(LogFloat, float, logf(x), logl(x))
FUNCTION(Exp10Float, float, exp10f(x), powl(10, x))
FUNCTION(SinpiFloat, float, sinpif(x), sinl(kPi* x))
FUNCTION(CospiDouble, double, cospi(x), cosl(kPi* x))
FUNCTION(TanhFloat, float, tanhf(x), tanhl(x))
FUNCTION(ErfFloat, float, erff(x), erfl(x))
FUNCTION(TgammaFloat, float, tgammaf(x), tgammal(x))
FUNCTION(NormcdfFloat, float, normcdff(x), erfcl(-x / sqrtl(2)) / 2)
FUNCTION(NormcdfDouble, double, normcdf(x), erfcl(-x / sqrtl(2)) / 2)
FUNCTION(ErfcxDouble, double, erfcx(x), expl(x* x) * erfcl(x))
FUNCTION(Norm3dFloat, float, norm3df(x, 2, 3), sqrtl(x* x + 13))
FUNCTION(RhypotFloat, float, rhypotf(x, 2), 1 / sqrtl(x * x + 4))
FUNCTION(Norm4dDouble, double, norm4d(x, 1, 2, 3), sqrtl(x* x + 14))
// The inverse of a function gives back its argument, magnified by its condition.
FUNCTION(ErfinvDouble, double, erf(erfinv(x)), x)
FUNCTION(ErfcinvDouble, double, erfc(erfcinv(x)), x)
FUNCTION(NormcdfinvDouble, double, normcdf(normcdfinv(x)), x)

__global__ void special_values(float* out) {
    const float inf = __int_as_float(0x7f800000);
    const float nan = __int_as_float(0x7fffffff);
    float s, c;
    sincospif(1.5f, &s, &c);
    out[0] = s == -1.0f && c == 0.0f;
    out[1] = erfinvf(1.0f) == inf && erfcinvf(0.0f) == inf && isnan(erfinvf(1.5f));
    out[2] = normcdfinvf(0.5f) == 0.0f && normcdff(-inf) == 0.0f;
    out[3] = isnan(__powf(-2.0f, 2.0f)) && powf(-2.0f, 2.0f) == 4.0f;
    out[4] = __fdividef(1.0f, 0x1p127f) == 0.0f && __fdividef(6.0f, 3.0f) == 2.0f;
    out[5] = fmaxf(nan, 1.0f) == 1.0f && max(1.0f, nan) == 1.0f && min(nan, 2.0) == 2.0;
    out[6] = __saturatef(nan) == 0.0f && __saturatef(2.0f) == 1.0f;
    out[7] = rsqrtf(0.0f) == inf && rsqrt(inf) == 0.0f && exp10(2.0f) == 100.0f;
    out[8] = erfcx(-30.0) == inf && erfcx(double(inf)) == 0.0;
    out[9] = fabsf(j0(0.0f) - 1.0f) < 1e-6f && jn(1, 0.0) == 0.0 &&
             cyl_bessel_i0f(0.0f) == 1.0f;
    out[10] = fabs(norm3d(3e200, 4e200, 0.0) / 5e200 - 1) < 1e-15 &&
              fdividef(1.0f, 4.0f) == 0.25f;
    // Of two numbers the one that is meant, of a number and NaN the number.
    const float values[] = {0.0f, 1.0f, -1.0f, 1e-45f, inf, -inf, nan};
    bool right = true;
    for (const float a : values)
        for (const float b : values) {
            const float less = isnan(b) || a < b ? a : b;
            const float more = isnan(b) || a > b ? a : b;
            const double d = a, e = b;
            if (isnan(a) && isnan(b)) {
                right &= isnan(fminf(a, b)) && isnan(fmaxf(a, b));
                right &= isnan(fmin(d, e)) && isnan(fmax(d, e));
            } else {
                right &= fminf(a, b) == less && fmaxf(a, b) == more;
                right &= fmin(d, e) == less && fmax(d, e) == more;
            }
        }
    out[11] = right;
}

}  // namespace

int main() {
    expect_close<RsqrtFloat>("rsqrtf", 1e-3, 100, 2);
    expect_close<RsqrtDouble>("rsqrt", 1e-3, 100, 1.5);
    expect_close<RcbrtFloat>("rcbrtf", 1e-3, 100, 2);
    expect_close<ExpFloat>("expf", -80, 80, 2);
    expect_close<LogFloat>("logf", 1e-3, 100, 2);
    expect_close<Exp10Float>("exp10f", -30, 30, 2);
    expect_close<SinpiFloat>("sinpif", -2.99, -2.01, 2);
    expect_close<CospiDouble>("cospi", 0.01, 0.49, 2);
    expect_close<TanhFloat>("tanhf", -5, 5, 2);
    expect_close<ErfFloat>("erff", -3, 3, 2);
    expect_close<TgammaFloat>("tgammaf", 0.5, 20, 11);
    expect_close<NormcdfFloat>("normcdff", -10, 5, 6);
    expect_close<NormcdfDouble>("normcdf", -30, 5, 6);
    expect_close<ErfcxDouble>("erfcx", -5, 60, 6);
    expect_close<Norm3dFloat>("norm3df", -50, 50, 3);
    expect_close<RhypotFloat>("rhypotf", -50, 50, 3);
    expect_close<Norm4dDouble>("norm4d", -50, 50, 3);
    expect_close<ErfinvDouble>("erfinv", -0.99, 0.99, 10);
    expect_close<ErfcinvDouble>("erfcinv", 1e-4, 1.9, 50);
    expect_close<NormcdfinvDouble>("normcdfinv", 1e-4, 0.999, 50);

    // What <cmath> offers the host beyond C's functions.
    check::expect(std::fabs(std::riemann_zeta(2.0) - M_PI * M_PI / 6) < 1e-12 &&
                      std::fabs(std::cyl_bessel_j(0.0, 2.404825557695773)) < 1e-12,
                  "C++17's special functions");

    const check::Array<float> out(12);
    special_values<<<1, 1>>>(out.data());
    check::expect(check::all_equal(out.host(), [](int) { return 1; }),
                  "special values");
    return check::report();
}
