#pragma once
// The CUDA runtime API: everything that a host file needs and a kernel does not.
#ifndef __CUDA_RUNTIME_API_H__
#define __CUDA_RUNTIME_API_H__
#endif
#ifndef CUDART_VERSION
#define CUDART_VERSION 13000
#endif
#ifndef __CUDART_API_VERSION
#define __CUDART_API_VERSION CUDART_VERSION
#endif
#include "driver_types.h"
#include "library_types.h"
#include "simt/api/device.h"
#include "simt/api/graph.h"
#include "simt/api/kernel.h"
#include "simt/api/memcpy.h"
#include "simt/api/memory.h"
#include "simt/api/stream.h"
#include "simt/api/texture.h"
#include "simt/vector_types.h"
