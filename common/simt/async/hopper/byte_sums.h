/// async/hopper/byte_sums.h: sums of products of e4m3 numbers, of which Hopper's tensor
/// cores keep 14 bits.
#pragma once

namespace simt::detail {

/// values [rows][n] += a b, as a wgmma adds 32 products of e4m3 numbers and what was
/// there before. Each of these is cut off, towards zero, to a multiple of 2^(e - 13),
/// where 2^e is the largest power of 2 among them; so is their sum, to 14 bits. A
/// product's power is that of its factors, even if their fractions make it one more.
/// So a product that is 2^14 times as small as the sum does not count any more.
///
/// Measured on an H200: of 19,615 sums of random numbers, beside all sizes of what was
/// there before, all are these, bit by bit. With a bit more or less, 16 products at a
/// time, or powers of whole products, one in five or more is not.
///
/// @param a  [rows][32], e4m3 numbers as floats
/// @param b  [32][n], the same
void add_byte_products(int rows, int n, const float* a, const float* b, float* values);

}  // namespace simt::detail
