/// simt/inline_ptx.h: the PTX instructions that the rewriter translates.
#pragma once
#include "simt/inline_ptx/base.h"
#include "simt/inline_ptx/clusters.h"
#include "simt/inline_ptx/convert.h"
#include "simt/inline_ptx/halves.h"
#include "simt/inline_ptx/lanes.h"
#include "simt/inline_ptx/numbers.h"
#include "simt/ptx.h"
