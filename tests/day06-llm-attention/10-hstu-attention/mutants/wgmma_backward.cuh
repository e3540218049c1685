// The backward pass of v4 in right_fast.cu, for the .diff files that edit it.
#define WB_NO_FORWARD
#define WB_NO_BACKWARD
#define WB_WGMMA_BACKWARD
#include "right_fast.cu"
