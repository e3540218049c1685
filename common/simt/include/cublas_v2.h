#pragma once
// cuBLAS on the CPU. Link with -lcublas, which is the library simt_cublas here.
#ifndef CUBLAS_V2_H_
#define CUBLAS_V2_H_
#endif
#include "cublas_api.h"
