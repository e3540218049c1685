// CUDA's modified Bessel functions are the C++ library's, which are a large header.
// Declared in simt/math/special.h.
#include <cmath>

double cyl_bessel_i0(double x) {
    return std::cyl_bessel_i(0.0, std::fabs(x));
}

double cyl_bessel_i1(double x) {
    return std::copysign(std::cyl_bessel_i(1.0, std::fabs(x)), x);
}
