// Compiled with -O3 and without an order of sums: see common/CMakeLists.txt.
#include <wb/reference/sums.h>

// On functions that no header has declared: not every compiler lets it come later.
#if defined(__x86_64__) && defined(__GNUC__) && defined(__ELF__)
#define WB_SEVERAL_AT_A_TIME __attribute__((target_clones("avx2", "default")))
#else
#define WB_SEVERAL_AT_A_TIME
#endif

namespace wb::reference {
namespace {

WB_SEVERAL_AT_A_TIME void sum_products(ProductSum& result,
                                       const float* a,
                                       const float* b,
                                       std::size_t n) {
    double sum = 0.0;
    double size = 0.0;
    double terms = 0.0;  // a double beside doubles: an int takes twice the time
    for (std::size_t i = 0; i < n; ++i) {
        const double product = double{a[i]} * double{b[i]};
        sum += product;
        size += std::abs(product);
        terms += product != 0.0 ? 1.0 : 0.0;
    }
    result = {sum, size, terms};
}

WB_SEVERAL_AT_A_TIME void sum_row(double* sums,
                                  double factor,
                                  const float* row,
                                  std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
        sums[i] += factor * double{row[i]};
}

WB_SEVERAL_AT_A_TIME void sum_sizes(double* sums,
                                    double factor,
                                    const float* row,
                                    std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
        sums[i] += factor * std::abs(double{row[i]});
}

}  // namespace

ProductSum product_sum(const float* a, const float* b, std::size_t n) {
    ProductSum result;
    sum_products(result, a, b, n);
    return result;
}

void add_row(double* sums, double factor, const float* row, std::size_t n) {
    sum_row(sums, factor, row, n);
}

void add_sizes(double* sums, double factor, const float* row, std::size_t n) {
    sum_sizes(sums, factor, row, n);
}

}  // namespace wb::reference
