/// simt/thrust/thrust.h: all of thrust that the simulator has. What is missing does
/// not compile.
#pragma once
// What NVIDIA's thrust brings, and programs come to rely on.
#include <cmath>
#include <iostream>
#include <iterator>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "simt/thrust/complex.h"
#include "simt/thrust/elementwise.h"
#include "simt/thrust/functional.h"
#include "simt/thrust/iterators.h"
#include "simt/thrust/pointer.h"
#include "simt/thrust/random.h"
#include "simt/thrust/reduce.h"
#include "simt/thrust/scan.h"
#include "simt/thrust/select.h"
#include "simt/thrust/sort.h"
#include "simt/thrust/tuple.h"
#include "simt/thrust/vector.h"

#define THRUST_VERSION 300002
#define THRUST_MAJOR_VERSION 3
#define THRUST_MINOR_VERSION 0
#define THRUST_SUBMINOR_VERSION 2
