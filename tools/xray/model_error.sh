#!/usr/bin/env bash
# model_error.sh BUILD_DIR: how far the model of ./learn xray is off, on the H100 that
# book/data/day01.json was measured on. Writes book/data/xray_model_error.json and prints
# a table. The counts come from this machine's simulator, the times from that file.
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
BUILD=$(cd "$1" && pwd) || exit 2
MEASURED=book/data/day01.json
OUTPUT=book/data/xray_model_error.json
WORK=$(mktemp -d) || exit 2
trap 'rm -rf "$WORK"' EXIT

program() { find "$BUILD" -name "$1" -type f -perm -u+x -print -quit; }

# count TARGET SIZE NAME: runs the rungs of a chapter on one size.
count() {
    SIMT_CHECK_TABLE=0 SIMT_CHECK_EXIT=0 SIMT_CHECK_JSON=$WORK/$3.json \
        "$(program "$1")" --xray "$WORK/$3.contract" --size "$2" >/dev/null
}

# compare NAME ROWS [LARGER]: the rows whose size contains ROWS.
compare() {
    local larger=()
    [[ -n ${3:-} ]] && larger=(--larger "$WORK/$3.json" --larger-contract "$WORK/$3.contract")
    "$(program wb_xray)" --json "$WORK/$1.json" --contract "$WORK/$1.contract" \
        --measured "$MEASURED" --rows "$2" --gpu h100 "${larger[@]}"
}

{
    count day01_vector_add_xray_solution 'n = 1048576' add && compare add ''
    count day01_saxpy_grid_stride_xray_solution 'n = 1048576' saxpy && compare saxpy ''
    count day01_add_bias_nchw_xray_solution '8 64 56 56' bias && compare bias '56 56'
    count day01_add_bias_nchw_xray_solution '8 2048 7 7' bias7 && compare bias7 ' 7 7'
    # Sums have parts that do not grow with n: extrapolated along a line.
    count day01_dot_product_xray_solution 'n = 1048576' dot &&
        count day01_dot_product_xray_solution 'n = 16777216' dot24 &&
        compare dot '' dot24
} >"$WORK/rows" || exit 1

{
    printf '{\n  "gpu": "NVIDIA H100 80GB HBM3",\n  "measured": "%s",\n' "$MEASURED"
    printf '  "model": "tools/xray/model.h, common/simt/data/gpus.json",\n  "rows": [\n'
    sed 's/^/    /; $!s/$/,/' "$WORK/rows"
    printf '  ]\n}\n'
} >"$OUTPUT"

echo '| rung | size | measured | model | model / measured | bound |'
echo '| --- | --- | --- | --- | --- | --- |'
sed -E 's/.*"rung":"([^"]*)","size":"([^"]*)","measured_us":([0-9.e+]*),"predicted_us":([0-9.e+]*),"ratio":([0-9.e+]*),"bound":"([^"]*)".*/\1\t\2\t\3\t\4\t\5\t\6/' \
    "$WORK/rows" | awk -F '\t' '{ printf "| %s | %s | %.0f us | %.0f us | %.2f | %s |\n",
        $1, $2, $3, $4, $5, $6 }'
