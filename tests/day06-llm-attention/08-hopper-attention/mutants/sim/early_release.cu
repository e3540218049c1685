// Mutant: releases values that wgmma still reads; a GPU may get away with it
// Rejected by: many blocks of keys: every stage is used again and again
#include "../right.h"

struct Wrong : Right {
    static constexpr bool kReleasesEarly = true;
};

#include "../contract.h"
