#include <wb/gemm.h>

#include <string>

namespace wb {
namespace {

void check_matrix(const Arguments& arguments,
                  const char* name,
                  int64_t rows,
                  int64_t columns,
                  int64_t ld,
                  std::size_t bytes) {
    arguments.require(ld >= columns,
                      ("shape.ld" + std::string(name)).c_str(),
                      ld,
                      ("must be >= " + std::to_string(columns) +
                       ", the columns of a row of the matrix")
                          .c_str());
    arguments.product(("rows * ld" + std::string(name) + " * bytes").c_str(),
                      {rows, ld, static_cast<int64_t>(bytes)});
}

}  // namespace

void check_gemm_shape(const Arguments& arguments,
                      const GemmShape& s,
                      std::size_t ab_bytes,
                      std::size_t c_bytes) {
    constexpr int64_t kMost = int64_t{1} << 30;
    arguments.size("shape.M", s.M).size("shape.N", s.N).size("shape.K", s.K);
    arguments.require(s.M <= kMost, "shape.M", s.M, "must be <= 2^30")
        .require(s.N <= kMost, "shape.N", s.N, "must be <= 2^30")
        .require(s.K <= kMost, "shape.K", s.K, "must be <= 2^30");
    check_matrix(arguments, "a", s.rows_of_a(), s.columns_of_a(), s.lda, ab_bytes);
    check_matrix(arguments, "b", s.rows_of_b(), s.columns_of_b(), s.ldb, ab_bytes);
    check_matrix(arguments, "c", s.M, s.N, s.ldc, c_bytes);
}

}  // namespace wb
