#!/bin/bash
# names.sh BUILD/include: every name that CUDA's headers document is declared by the
# simulator's or stands in data/missing_names.txt, so that using it is refused in one
# line. 77: there are no headers of CUDA 13 to compare with.
set -u
made=$1
data=$(cd "$(dirname "$0")/../../data" && pwd) || exit
cuda=${CUDA_HOME:-/usr/local/cuda}/include
grep -q '#define CUDART_VERSION *13' "$cuda/cuda_runtime_api.h" 2>/dev/null ||
    { echo "skipped: no headers of CUDA 13 in $cuda"; exit 77; }
words() { grep -v '^#' | tr -s ' \n' '\n' | sort -u; }
lacking=$(python3 "$data/missing_names.py" "$cuda" "$made") || exit
[[ $(words <<<"$lacking" | wc -l) -gt 1000 ]] ||
    { echo "missing_names.py finds next to nothing: is $made the right folder?"; exit 1; }
neither=$(comm -23 <(words <<<"$lacking") <(words <"$data/missing_names.txt"))
[[ -z $neither ]] && exit
printf 'neither declared nor in missing_names.txt; run missing_names.py:\n%s\n' \
    "$neither"
exit 1
