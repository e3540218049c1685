#!/usr/bin/env bash
# Runs a compiler, and fails if it says that fast kernels have become slow ones.
#
#   ptxas_gate.sh sm_90a nvcc -Xptxas=-v …     (as CMake's CUDA_COMPILER_LAUNCHER)
#
# The first argument is the architecture that the kernels were made for, and the only one
# whose registers are looked at: elsewhere they may trap, or be slower than they could be.
#
# ptxas tells, and goes on, when registers do not suffice (spills, a stack frame) and
# when it has to wait after each wgmma instruction:
#   C7510         a branch or a call lies between wgmmas
#   C7511, C7512  not enough registers
#   C7515         another instruction writes an accumulator while wgmmas run
# and some more between C7508 and C7518; C7519 does no harm.
set -u
architecture=$1
shift
output=$("$@" 2>&1)
status=$?
# -v is for this script: of its lines only the wrong ones are shown.
noise='^ptxas info|bytes stack frame|bytes cumulative stack|bytes gmem|^$'
grep -vE "$noise" <<<"$output" >&2
if ((status != 0)); then
    exit "$status"
fi
wrong=$(awk -v quoted="'$architecture'" '
    /Compiling entry function/ {
        fast = index($0, quoted) > 0
        kernel = $0
        sub(/.*entry function ./, "", kernel)
        sub(/. for .*/, "", kernel)
    }
    /C75(0[89]|1[0-8])/ { print }
    fast && /[1-9][0-9]* bytes (stack frame|spill)/ { print kernel ":" $0 }
' <<<"$output")
if [[ -n $wrong ]]; then
    printf 'ptxas_gate: spills or serialised wgmma:\n%s\n' "$wrong" >&2
    exit 1
fi
