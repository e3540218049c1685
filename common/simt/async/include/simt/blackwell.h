/// simt/blackwell.h: the tensor cores of Blackwell (sm_100a): tcgen05 and its memory,
/// as functions. Code that is to run on a GPU as well calls them through
/// wb/ptx/tcgen05.h.
///
/// Written from the PTX ISA; unlike everything else here, never compared with a GPU.
#pragma once

#include "simt/blackwell/tcgen05.h"
#include "simt/hopper.h"
