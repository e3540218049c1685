#!/bin/bash
# headers.sh BUILD: every public header of the simulator can be included alone, in
# .cu files and what host code needs in .cpp files; those of CUDA 13 (headers.txt) that
# are not there are refused in one line; what each .cu file has first stays small.
set -u
build=$1
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
simt=$(readlink -f "$here/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() {
    echo "$*"
    failed=1
}

folders=("$simt"/*/include "$build/include")
flags=(-std=gnu++20 -DSIMT_REWRITE=1 -D__CUDACC__=1)
for folder in "${folders[@]}"; do flags+=("-I$folder"); done
cxx=${CXX:-g++}

# A .cu file has these first; what they cost is paid once.
echo '#include "cuda_runtime.h"
#include "simt/inline_ptx.h"' >"$work/first.h"
$cxx "${flags[@]}" -x c++-header "$work/first.h" -o "$work/first.h.gch" ||
    fail "cuda_runtime.h cannot be included"

# Half of a small file's time was spent on headers of C++ that nvcc does not bring.
heavy=$($cxx "${flags[@]}" -E -x c++ "$work/first.h" |
    grep -oE '^# 1 "[^"]*/(algorithm|functional|iostream|memory|ostream|string|vector)"')
[[ -z $heavy ]] || fail "each .cu file includes" $heavy

include() { # header flags…
    local header=$1 output
    shift
    output=$($cxx "${flags[@]}" "$@" -fsyntax-only -x c++ - <<<"#include <$header>" 2>&1) ||
        fail "$header cannot be included alone $*: $output"
}

# Of headers that only include another one, one for each.
declare -A seen
while read -r folder header; do
    target=$(sed -n '/^#pragma once$/d; s/^#include "\(.*\)"$/\1/p' "$folder/$header")
    [[ $folder == "$build"* && -n $target ]] || target=$header
    [[ -n ${seen[$target]:-} ]] && continue
    seen[$target]=1
    include "$header" -include "$work/first.h"
done < <(for folder in "${folders[@]}"; do
    (cd "$folder" && find . -type f ! -path './simt/*' ! -name '*.inc' -printf "$folder %P\n")
done)
((${#seen[@]} > 40)) || fail "only ${#seen[@]} headers were tried"
for header in cuda.h cuda_runtime.h cuda_runtime_api.h cuda_fp16.h cuda_bf16.h \
    cuComplex.h cublas_v2.h curand.h driver_types.h library_types.h nccl.h vector_types.h; do
    include "$header" -U__CUDACC__
done

# The rest says so.
lacking=0
while read -r header; do
    for folder in "${folders[@]}"; do [[ -e $folder/$header ]] && continue 2; done
    ((++lacking))
    output=$("$build/bin/simt_rewrite" --messages "$simt/data" "${folders[@]}" \
        <<<"a.cu:7:10: fatal error: $header: No such file or directory")
    [[ $output == "a.cu:7: error: $header: "*" is not in the simulator; "* ]] ||
        fail "$header is not refused: $output"
done <"$here/headers.txt"
echo "${#seen[@]} headers alone, $lacking refused"
exit $failed
