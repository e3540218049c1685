// The backward pass of right.cu, for the .diff files that edit it.
#define WB_ONLY_BACKWARD
#include "right.cu"
