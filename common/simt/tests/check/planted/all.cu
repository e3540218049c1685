// All planted bugs in one program: headers take most of the time to compile.
#include "planted.h"

#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include <cmath>
#include <cuda/atomic>
#include <cuda/barrier>

#include "simt/options.h"
#include "simt/streams.h"

namespace async {
#include "async.cu"
}
namespace block_races {
#include "block_races.cu"
}
namespace bounds {
#include "bounds.cu"
}
namespace clean {
#include "clean.cu"
}
namespace cluster {
#include "cluster.cu"
}
namespace dependent {
#include "dependent.cu"
}
namespace devices {
#include "devices.cu"
}
namespace divergence {
#include "divergence.cu"
}
namespace flash {
#include "flash.cu"
}
namespace grid_races {
#include "grid_races.cu"
}
namespace launches {
#include "launches.cu"
}
namespace read_only {
#include "read_only.cu"
}
namespace scopes {
#include "scopes.cu"
}
namespace streams {
#include "streams.cu"
}
namespace uninitialised {
#include "uninitialised.cu"
}
