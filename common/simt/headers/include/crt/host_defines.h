/// crt/host_defines.h: an internal header of the toolkit that some programs include.
#pragma once
#include "simt/core.h"
