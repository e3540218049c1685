#!/bin/bash
# Which mode of simt-c++ finds which planted bug: prints the table, or compares it with
# planted.tsv. Compilers that are not installed are left out of the comparison.
#
#     table.sh [--compare]        SIMT_BUILD_DIR says where the simulator is built
set -u -o pipefail

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
compiler=$here/../../simt-c++
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

columns=("plain g++" "check g++" "check clang++-14" "asan g++" "asan clang++-14"
    "tsan g++" "tsan clang++-14")
head=$'bug\tkind'
: >"$work/used"
number=0
for column in "${columns[@]}"; do
    read -r mode cxx <<<"$column"
    number=$((number + 1))
    command -v "$cxx" >/dev/null || continue
    flag=()
    [[ $mode != plain ]] && flag=("--$mode")
    CXX=$cxx "$compiler" -O1 -arch=sm_90 "${flag[@]}" "$here/planted/all.cu" \
        -o "$work/program" || exit 1
    "$here/judge.sh" "$mode" "$here/planted" "$work/program" >"$work/verdicts"
    [[ -e $work/table ]] || cut -f1,2 "$work/verdicts" >"$work/table"
    cut -f3 "$work/verdicts" | paste "$work/table" - >"$work/next"
    mv "$work/next" "$work/table"
    head+=$'\t'$column
    echo $((number + 2)) >>"$work/used"
done
{
    echo "$head"
    cat "$work/table"
} >"$work/result"
if [[ ${1:-} != --compare ]]; then
    cat "$work/result"
    exit
fi
cut -f"1,2,$(paste -sd, "$work/used")" "$here/planted.tsv" | diff - "$work/result" && echo same
