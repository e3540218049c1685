/// cuda_pipeline.h: the primitives of asynchronous copies to shared memory.
#pragma once
#include "cuda_pipeline_primitives.h"
