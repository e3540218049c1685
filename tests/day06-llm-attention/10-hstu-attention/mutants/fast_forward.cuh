// The forward pass of v3 in right_fast.cu, for the .diff files that edit it.
#define WB_NO_BACKWARD
#define WB_NO_WGMMA
#include "right_fast.cu"
