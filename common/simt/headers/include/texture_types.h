#pragma once
// The structures of textures.
#include "simt/api/texture_types.h"
