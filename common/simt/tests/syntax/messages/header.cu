// A header of a library that the simulator lacks, found through another file.
#include "header.h"
