#pragma once
// The structures of surfaces.
#include "simt/api/texture_types.h"
