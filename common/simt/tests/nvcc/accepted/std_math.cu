#include <cmath>
__global__ void k(float* o) {
    o[0] = std::sqrt(o[0]) + std::exp(o[1]) + std::abs(o[2]) + std::pow(o[3], 2.f) + std::isnan(o[4]) + std::fma(o[1], o[2], o[3]) + std::tanh(o[0]) + std::floor(o[1]) + std::fmax(o[0], o[1]) + std::round(o[1]) + std::lround(o[1]) + std::log1p(o[1]) + std::hypot(o[0],o[1]) + std::isinf(o[3]) + std::signbit(o[1]) + std::fmod(o[0],o[1]);
}
int main() {}
