/// simt/inline_ptx/lanes.h: PTX's operations of a warp. A part of simt/inline_ptx.h.
#pragma once
#include "simt/warp.h"

namespace simt::ptx {

/// Do all lanes of the mask agree?
inline bool vote_uni(unsigned mask, bool holds, SIMT_SITE) {
    const unsigned yes = __ballot_sync(mask, holds, file, line);
    return yes == 0 || yes == (__ballot_sync(mask, true, file, line));
}

/// From which lane shfl.sync reads: b is a lane, a distance or a mask, c has the limit
/// in its low byte and in bits 8 to 12 what stays of the own lane's number. `inside`
/// says whether that lane is in the segment; if not, the value is the lane's own.
struct Segment {
    unsigned lane, limit, mask;
    explicit Segment(unsigned c)
        : lane(static_cast<unsigned>(detail::lane())),
          limit((lane & (c >> 8 & 31)) | (c & 31 & ~(c >> 8 & 31))),
          mask(c >> 8 & 31) {}
    int from(unsigned other, bool is_inside, bool& inside) const {
        inside = is_inside;
        return static_cast<int>(is_inside ? other : lane);
    }
};
inline int shfl_up(unsigned b, unsigned c, bool& inside) {
    const Segment s(c);
    const int other = static_cast<int>(s.lane) - static_cast<int>(b & 31);
    return s.from(
        static_cast<unsigned>(other), other >= static_cast<int>(s.limit), inside);
}
inline int shfl_down(unsigned b, unsigned c, bool& inside) {
    const Segment s(c);
    const unsigned other = s.lane + (b & 31);
    return s.from(other, other <= s.limit, inside);
}
inline int shfl_bfly(unsigned b, unsigned c, bool& inside) {
    const Segment s(c);
    const unsigned other = s.lane ^ (b & 31);
    return s.from(other, other <= s.limit, inside);
}
inline int shfl_idx(unsigned b, unsigned c, bool& inside) {
    const Segment s(c);
    const unsigned other = (s.lane & s.mask) | (b & 31 & ~s.mask);
    return s.from(other, other <= s.limit, inside);
}

}  // namespace simt::ptx
