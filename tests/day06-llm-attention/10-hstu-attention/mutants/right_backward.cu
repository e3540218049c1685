// The backward pass of right.cu, for the .diff files that edit it.
#define WB_RIGHT_BACKWARD
#include "right.cu"
