// Mutant: releases values that wgmma still reads; a GPU may get away with it
// Rejected by: right whatever order the threads run in
#include "../right.h"

struct Wrong : Right {
    static constexpr bool kReleasesEarly = true;
};

#include "../contract.h"
