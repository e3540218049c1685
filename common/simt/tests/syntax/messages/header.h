#pragma once
// says: cufft.h: cuFFT is not in the simulator; guard what needs it with #ifndef SIMT_C
#include <cufft.h>
