#pragma once
// cudaCreateChannelDesc.
#include "simt/api/texture.h"
