/// simt/thrust/thrust.h: a subset of thrust that runs on the host: vectors, iterators,
/// function objects and algorithms. What is missing does not compile.
#pragma once
#include "simt/thrust/algorithms.h"
#include "simt/thrust/functional.h"
#include "simt/thrust/iterators.h"
#include "simt/thrust/memory.h"
#include "simt/thrust/policy.h"
#include "simt/thrust/random.h"

#define THRUST_VERSION 300000
#define THRUST_MAJOR_VERSION 3
#define THRUST_MINOR_VERSION 0
#define THRUST_SUBMINOR_VERSION 0
