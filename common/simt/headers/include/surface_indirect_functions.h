#pragma once
// Surface accesses.
#include "simt/texture.h"
