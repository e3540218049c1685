// Mutant: right remedies, but shared memory and registers are taken for each other
// Rejected by: the disease of mystery_b
#include "profiling.h"

#define diagnose rightly
#include "../../../../solutions/day07-tuning/02-profiling/profiling.cu"
#undef diagnose

Diagnoses diagnose() {
    Diagnoses disease = rightly();
    disease.mystery_b = Disease::registers;
    disease.mystery_e = Disease::shared_memory;
    return disease;
}
