/// simt/warp_legacy.h: the warp functions without a mask of CUDA 8 and older, which
/// textbooks use. They concern the lanes that execute the call together.
///
/// CUDA 9 and later have only the functions with a mask, in simt/warp.h.
#pragma once

#include "simt/warp.h"

template <class T>
SIMT_ONE_CALL T __shfl(T value, int src, int width = 32, SIMT_SITE, SIMT_PLACE) {
    const unsigned mask = simt::detail::active_mask(file, line, place);
    return __shfl_sync(mask, value, src, width, file, line);
}
template <class T>
SIMT_ONE_CALL T
__shfl_up(T value, unsigned delta, int width = 32, SIMT_SITE, SIMT_PLACE) {
    const unsigned mask = simt::detail::active_mask(file, line, place);
    return __shfl_up_sync(mask, value, delta, width, file, line);
}
template <class T>
SIMT_ONE_CALL T
__shfl_down(T value, unsigned delta, int width = 32, SIMT_SITE, SIMT_PLACE) {
    const unsigned mask = simt::detail::active_mask(file, line, place);
    return __shfl_down_sync(mask, value, delta, width, file, line);
}
template <class T>
SIMT_ONE_CALL T
__shfl_xor(T value, int lane_mask, int width = 32, SIMT_SITE, SIMT_PLACE) {
    const unsigned mask = simt::detail::active_mask(file, line, place);
    return __shfl_xor_sync(mask, value, lane_mask, width, file, line);
}
SIMT_ONE_CALL inline unsigned __ballot(int predicate, SIMT_SITE, SIMT_PLACE) {
    return __ballot_sync(
        simt::detail::active_mask(file, line, place), predicate, file, line);
}
SIMT_ONE_CALL inline int __any(int predicate, SIMT_SITE, SIMT_PLACE) {
    return __any_sync(
        simt::detail::active_mask(file, line, place), predicate, file, line);
}
SIMT_ONE_CALL inline int __all(int predicate, SIMT_SITE, SIMT_PLACE) {
    return __all_sync(
        simt::detail::active_mask(file, line, place), predicate, file, line);
}
