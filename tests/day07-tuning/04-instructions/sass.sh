#!/usr/bin/env bash
# sass.sh: writes day07-tuning/04-instructions/side_by_side.sass, which the lesson shows.
#
#     sass.sh                 compiles side_by_side.cu for sm_90 and disassembles it
#     sass.sh DUMP            takes what `cuobjdump -sass` has printed elsewhere
#
# Of each kernel it keeps what lies between its first load and its last store, without
# addresses and encodings. Jumps keep their target's address, and the target a mark.
set -euo pipefail
chapter=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)/day07-tuning/04-instructions
readonly chapter

# Prints the dump's kernels, in the order of the source, as regions.
as_regions() {
    awk -v order="$(sed -n 's/^extern "C" __global__ void \([a-z0-9_]*\)(.*/\1/p' \
        "$chapter/side_by_side.cu" | tr '\n' ' ')" '
        /Function : / { kernel = $3; next }
        match($0, /^ +\/\*[0-9a-f]+\*\/ +/) {
            address = $1
            gsub(/[^0-9a-f]/, "", address)
            sub(/^ +\/\*[0-9a-f]+\*\/ +/, "")
            sub(/ *;.*/, "")
            if ($0 !~ /^@/) $0 = "     " $0
            else if ($0 !~ /^@!/) sub(/ /, "  ")
            count[kernel]++
            lines[kernel, count[kernel]] = $0
            addresses[kernel, count[kernel]] = address
            if ($0 ~ /LDG/ && !first[kernel]) first[kernel] = count[kernel]
            if ($0 ~ /STG/) last[kernel] = count[kernel]
            if (match($0, /(BRA|BSSY B[0-9]+,) 0x[0-9a-f]+/)) {
                target = $0
                sub(/.*0x/, "", target)
                while (length(target) < 4) target = "0" target
                is_target[kernel, target] = 1
            }
        }
        END {
            split(order, kernels, " ")
            for (k = 1; k in kernels; ++k) {
                kernel = kernels[k]
                print "\n// #region " kernel
                for (i = first[kernel]; i <= last[kernel]; ++i) {
                    mark = ""
                    if ((kernel, addresses[kernel, i]) in is_target)
                        mark = "0x" addresses[kernel, i] ":"
                    sub(/^0x0+/, "0x", mark)
                    printf "%-7s%s\n", mark, lines[kernel, i]
                }
                print "// #endregion " kernel
            }
        }' "$1"
}

if [[ $# == 0 ]]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    nvcc -arch=sm_90 -cubin -o "$folder/side_by_side.cubin" "$chapter/side_by_side.cu"
    cuobjdump -sass "$folder/side_by_side.cubin" >"$folder/dump"
    set -- "$folder/dump"
fi
{
    echo '// What nvcc 13.0 makes of side_by_side.cu for sm_90 (H100), from the first load'
    echo '// to the last store. Written by tests/day07-tuning/04-instructions/sass.sh.'
    as_regions "$1"
} >"$chapter/side_by_side.sass"
