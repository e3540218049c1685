#!/usr/bin/env bash
# Compiles the solution for sm_100a and looks for its instructions:
#
#     instructions.sh ptx|sass NVCC CHECKOUT WORK_DIR
#
# ptx: the PTX has the tcgen05 instructions, and ptxas makes machine code of it without
# spilling registers. sass: so has the machine code; exit status 77 without a
# disassembler (cuobjdump or nvdisasm, of the CUDA toolkit).
set -u -o pipefail

what=$1 nvcc=$2 checkout=$3 work=$4
chapter=day06-llm-attention/09-blackwell-attention
source=$checkout/solutions/$chapter/blackwell_attention.cu
flags=(-std=c++20 -O3 -arch=sm_100a -I"$checkout/common/include"
    -I"$checkout/common/reference/include" -I"$checkout/$chapter")

if ! "$nvcc" --dryrun -arch=sm_100a -c -x cu /dev/null -o /dev/null 2>/dev/null; then
    echo "$nvcc knows no sm_100a: CUDA 12.8 or later is needed"
    exit 77
fi

missing=0
# Each pattern must be in the text.
expect_all() { # text pattern...
    local text=$1 pattern
    shift
    for pattern; do
        if grep -qE "$pattern" <<<"$text"; then
            printf '%6d x %s\n' "$(grep -cE "$pattern" <<<"$text")" "$pattern"
        else
            echo "missing: $pattern"
            missing=1
        fi
    done
}

if [[ $what == ptx ]]; then
    "$nvcc" "${flags[@]}" -ptx "$source" -o "$work/blackwell.ptx" || exit 1
    expect_all "$(<"$work/blackwell.ptx")" 'tcgen05\.alloc' 'tcgen05\.dealloc' \
        'tcgen05\.mma\.cta_group::1\.kind::f16 \[%[a-z0-9]+\], %' \
        'tcgen05\.mma\.cta_group::1\.kind::f16 \[%[a-z0-9]+\], \[' \
        'tcgen05\.commit' 'tcgen05\.ld\.' 'tcgen05\.st\.' 'tcgen05\.wait::ld' \
        'tcgen05\.wait::st' 'tcgen05\.fence::before_thread_sync' \
        'tcgen05\.fence::after_thread_sync' 'cp\.async\.bulk\.tensor\.4d' \
        'mbarrier\.try_wait'
    log=$("$nvcc" "${flags[@]}" -Xptxas=-v -cubin "$source" -o "$work/blackwell.cubin" \
        2>&1) || missing=1
    grep -E 'spill|registers|error' <<<"$log"
    if grep -qE '[1-9][0-9]* bytes (stack|spill)' <<<"$log"; then
        echo "ptxas has spilled registers"
        missing=1
    fi
    exit "$missing"
fi

tools=$(dirname "$nvcc")
if disassembler=$(PATH=$tools:$PATH command -v cuobjdump); then
    command=("$disassembler" -sass)
elif disassembler=$(PATH=$tools:$PATH command -v nvdisasm); then
    command=("$disassembler")
else
    echo "neither cuobjdump nor nvdisasm is here: the machine code was not read"
    exit 77
fi
"$nvcc" "${flags[@]}" -cubin "$source" -o "$work/blackwell_sass.cubin" || exit 1
sass=$("${command[@]}" "$work/blackwell_sass.cubin") || exit 1
# UTCHMMA: tcgen05.mma of 16-bit types; UTCBAR: commit; LDTM, STTM: tensor memory to and
# from registers; UTMALDG: TMA.
expect_all "$sass" 'UTCHMMA' 'UTCBAR' 'LDTM' 'STTM' 'UTMALDG'
if grep -qE '\b(STL|LDL)\b' <<<"$sass"; then
    echo "the machine code uses local memory"
    missing=1
fi
exit "$missing"
