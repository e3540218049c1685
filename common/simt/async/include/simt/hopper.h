/// simt/hopper.h: what the asynchronous instructions of Hopper (sm_90a) do, as
/// functions. Code that is to run on a GPU as well calls them through wb/ptx/.
///
/// What is asynchronous on the GPU happens here as late as the GPU may let it happen,
/// and what lies in between holds NaN: a tile that TMA is copying holds poison until
/// somebody waits for its mbarrier, the accumulator of a wgmma until the wait for its
/// group. So a wait that is missing, or for the wrong phase, shows in the numbers.
#pragma once

#include "simt/hopper/mbarrier.h"
#include "simt/hopper/tma.h"
#include "simt/hopper/warpgroup.h"
#include "simt/hopper/wgmma.h"
