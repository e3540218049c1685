/// simt/nccl_limit.h: how long the stand-in for NCCL waits.
#pragma once

namespace simt {

/// A collective that waits for a rank's call is given up, and named, when nothing has
/// been queued or run for so many seconds. Default: SIMT_NCCL_LIMIT, or 8.
void set_nccl_limit(double seconds);

}  // namespace simt
