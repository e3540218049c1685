#pragma once
// Texture fetches.
#include "simt/texture.h"
