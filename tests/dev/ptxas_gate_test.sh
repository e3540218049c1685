#!/usr/bin/env bash
# Tests cmake/scripts/ptxas_gate.sh: a build passes whose registers suffice, and one with
# a spill, local memory or serialised wgmma fails.
#
#     ptxas_gate_test.sh [NVCC]
#
# A false compiler says what ptxas would. With NVCC, the last rung of
# day06-llm-attention/07-tensor-core-attention is compiled, too, as it is, and with tiles
# that are too large: a planted spill.
set -u -o pipefail

REPOSITORY=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
GATE=$REPOSITORY/cmake/scripts/ptxas_gate.sh
WORK=$(mktemp -d) || exit 2
trap 'rm -rf "$WORK"' EXIT
FAILURES=0
OUTPUT=''

# expect STATUS PATTERN NAME ARCHITECTURE COMMAND…: how the gate ends and what it prints.
expect() {
    local wanted=$1 pattern=$2 name=$3 status
    shift 3
    OUTPUT=$(bash "$GATE" "$@" 2>&1)
    status=$?
    if ((status == wanted)) && grep -qE -- "$pattern" <<<"$OUTPUT"; then
        printf 'passed: %s\n' "$name"
        return
    fi
    FAILURES=$((FAILURES + 1))
    printf 'FAILED: %s (status %d)\n' "$name" "$status"
    printf '%s\n' "$OUTPUT" | sed 's/^/    | /'
}

# says STATUS LINE…: a compiler that prints these lines.
says() {
    local status=$1
    shift
    printf '#!/bin/bash\ncat <<"END"\n' >"$WORK/compiler"
    printf '%s\n' "$@" >>"$WORK/compiler"
    printf 'END\nexit %d\n' "$status" >>"$WORK/compiler"
    chmod +x "$WORK/compiler"
}

readonly KERNEL="ptxas info    : Compiling entry function 'fast' for 'sm_90a'"
readonly OTHER="ptxas info    : Compiling entry function 'fast' for 'sm_80'"
frame() { # stack, stores, loads
    printf '    %s bytes stack frame, %s bytes spill stores, %s bytes spill loads' "$@"
}

says 0 "$KERNEL" "$(frame 0 0 0)"
expect 0 '^$' 'nothing spilled: nothing printed' sm_90a "$WORK/compiler"
says 0 "$KERNEL" "$(frame 16 8 8)"
expect 1 'fast:.*8 bytes spill stores' 'a spill' sm_90a "$WORK/compiler"
says 0 "$KERNEL" "$(frame 128 0 0)"
expect 1 'fast:.*128 bytes stack' 'an array in local memory' sm_90a "$WORK/compiler"
says 0 "$OTHER" "$(frame 16 8 8)" "$KERNEL" "$(frame 0 0 0)"
expect 0 '^$' 'a spill on another architecture' sm_90a "$WORK/compiler"
for code in C7510 C7511 C7515; do
    says 0 "$KERNEL" "$(frame 0 0 0)" "ptxas info    : ($code) Potential Performance Loss"
    expect 1 "$code" "serialised wgmma, $code" sm_90a "$WORK/compiler"
done
says 0 "$KERNEL" "$(frame 0 0 0)" 'ptxas info    : (C7519) harmless'
expect 0 '^$' 'C7519 does no harm' sm_90a "$WORK/compiler"
says 3 'x.cu(1): error: nonsense'
expect 3 'nonsense' 'a compiler that fails' sm_90a "$WORK/compiler"

# The lines above are what this toolkit really prints.
if (($# > 0)) && "$1" --dryrun -arch=sm_90a -c -x cu /dev/null -o /dev/null 2>/dev/null; then
    chapter=day06-llm-attention/07-tensor-core-attention
    cat >"$WORK/fast.cu" <<'END'
#include "tensor_core_attention_fast.cu"

#include "05_tuned.cuh"
using Sizes = TileSizes<Tiling{.head_dim = 128,
                               .block_rows = 128,
                               .block_keys = KEYS,
                               .stages = 2,
                               .query_steps = 0,
                               .blocks_at_once = 2}>;
template __global__ void attention_v5_kernel<__half, Sizes>(const TunedProblem<__half>);
END
    compile=("$1" -std=c++20 -O3 -arch=sm_90a -Xptxas=-v -cubin -o "$WORK/cubin"
        -I"$REPOSITORY/common/include" -I"$REPOSITORY/common/reference/include"
        -I"$REPOSITORY/solutions/$chapter" -I"$REPOSITORY/$chapter" "$WORK/fast.cu")
    expect 0 '^$' 'v5 of chapter 07' sm_90a "${compile[@]}" -DKEYS=64
    expect 1 'attention_v5_kernel.*bytes spill' 'v5 with more keys than registers hold' \
        sm_90a "${compile[@]}" -DKEYS=128
fi

exit $((FAILURES > 0))
