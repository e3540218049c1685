// Times day06-llm-attention/10-hstu-attention.
#include "hstu_attention.h"

#include <wb/bench/bench.h>
