// The forward pass of right.cu, for the .diff files that edit it.
#define WB_ONLY_FORWARD
#include "right.cu"
