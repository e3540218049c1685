/// crt/mma.h: an internal header of the toolkit that some programs include.
#pragma once
#include "simt/wmma.h"
