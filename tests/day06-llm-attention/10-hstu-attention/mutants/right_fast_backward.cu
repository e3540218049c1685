// The backward pass of right_fast.cu, for the .diff files that edit it.
#define WB_RIGHT_BACKWARD
#include "right_fast.cu"
