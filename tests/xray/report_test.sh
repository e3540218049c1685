#!/usr/bin/env bash
# report_test.sh: what the report says about recorded runs of two transposes.
set -u -o pipefail
HERE=$(cd "$(dirname "$0")" && pwd -P)
RENDERER=(python3 -B -I -S "$HERE/../../tools/xray")
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT
FAILURES=0
OUTPUT='' STATUS=0

complain() {
    FAILURES=$((FAILURES + 1))
    printf 'FAILED (line %s): %s\n' "${BASH_LINENO[1]}" "$*"
    printf '%s\n' "$OUTPUT" | sed 's/^/    | /' | head -n 60
}
expect() { [[ $OUTPUT == *"$1"* ]] || complain "no '$1'"; }
expect_not() { [[ $OUTPUT != *"$1"* ]] || complain "'$1'"; }
expect_status() { ((STATUS == $1)) || complain "exit status $STATUS instead of $1"; }

# recorded NAME: a run with the paths of this checkout; "racy" has a mistake in it.
recorded() {
    sed "s|@DIR@|$HERE|g" "$HERE/recorded.json" >"$WORK/racy.json"
    sed 's/"findings": .*/"findings": []}/' "$WORK/racy.json" >"$WORK/transpose.json"
    printf '%s' "$WORK/$1.json"
}
# render NAME ARGS
render() {
    local json
    json=$(recorded "$1")
    shift
    OUTPUT=$("${RENDERER[@]}" --json "$json" --root "$HERE" "$@" 2>&1)
    STATUS=$?
}

# --- The text --------------------------------------------------------------------------
render transpose --kernel naive
expect_status 0
expect 'Nothing unsafe was found'
expect '78 % of the sectors that it moves are wasted, by transpose.cu:13.'
expect '  transpose.cu:13, store'
expect 'store         32 of 4 sectors 12 %'
expect 'load          4 of 4 sectors  100 %   13 |         out[x * n + y + j] = in'
expect "A warp's 32 stores of 4 bytes go to 32 different sectors of 32 bytes: 1,024 bytes"
expect 'Let threadIdx.x run along the fastest dimension'
expect 'l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum'
expect_not 'transpose_tiled'

render transpose --kernel 'tiled<0>'
expect '94 % of its passes through shared memory are bank conflicts, in transpose.cu:30.'
expect 'shared load   32-way banks'
expect 'Pad each row by one word'
expect 'barrier       1 a block'
render transpose --kernel 'tiled<1>'
expect 'Its accesses waste nothing'
expect_not 'Pad each row'

# Only this kernel's own function is shown, from its template line to its brace.
expect '18 | template <int kPad>'
expect '32 | }'
expect_not 'int main'

render transpose --kernel spongy
expect_status 2
expect "no kernel is called 'spongy'; there are: transpose_naive, transpose_tiled<0>"

# Nobody is blamed for lines that were given.
render transpose --kernel naive --own "$HERE/transpose.cu:13-13"
expect 'wasted, by transpose.cu:13.'
render transpose --kernel naive --own "$HERE/transpose.cu:1-12,14"
expect 'The lines that you wrote waste nothing. Lines that were given do; --given says which.'
expect 'store         32 of 4 sectors 12 %'
expect_not 'Let threadIdx.x run'
render transpose --kernel 'tiled<1>' --own "$HERE/transpose.cu:13"
expect 'Its accesses waste nothing'

# What stands behind a condition has lanes of its own.
BRANCH='"line": 13, "executions": 100, "lanes": 2880, "part_executions": 10, "part_lanes": 10'
sed "s|\"branches\": \[\]|\"branches\": [{\"file\": \"$HERE/transpose.cu\", $BRANCH}]|" \
    "$(recorded transpose)" >"$WORK/b.json"
OUTPUT=$("${RENDERER[@]}" --json "$WORK/b.json" --kernel naive)
expect 'lanes         1 of 32 busy    3.1 %'

# A mistake comes first, with both lines quoted.
render racy
expect '1 mistake was found'
# shellcheck disable=SC2016 # no command
expect 'RACE (write after read) on shared `s_tile`'
expect 'transpose.cu:24  | s_tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];'
expect 'transpose.cu:30  | out[(ty + j) * n + tx] = s_tile[threadIdx.x][threadIdx.y + j];'
expect 'Usually fixed so: a __syncthreads()'
expect 'RACE          see the top'
expect 'Explained in day01-basics/05-dot-product.'

# Contracts of a benchmark: sections, sizes, what the least is.
sed "s|\"section\": \"\"|\"section\": \"transpose_v1\"|" "$(recorded transpose)" >"$WORK/s.json"
echo '{"sections": [{"name": "transpose_v1", "idea": "no tile", "size": "n = 256",
    "bytes": 524288, "mistake": "y[3] is 1"}]}' >"$WORK/contract.json"
OUTPUT=$("${RENDERER[@]}" --json "$WORK/s.json" --contract "$WORK/contract.json" --section v1)
expect '=== transpose_v1: no tile (n = 256)'
expect 'the contract needs 524 kB'
expect 'Its result is WRONG: y[3] is 1'
# 64 operations for each of 524,288 bytes: beyond the ridge of 66.9 TFLOP/s at 3,026 GB/s.
echo '{"sections": [{"name": "transpose_v1", "size": "n = 256", "flop": 33554432}]}' \
    >"$WORK/flop.json"
OUTPUT=$("${RENDERER[@]}" --json "$WORK/s.json" --contract "$WORK/flop.json" --gpu h100 \
    --kernel naive --html "$WORK/roof.html")
expect '64 operations for each byte of DRAM'
OUTPUT+=$(<"$WORK/roof.html")
expect 'below 22.1, arithmetic'
expect 'The roof here is 66.9 TFLOP/s'
expect 'class="roofline"'
# The same operations by tensor cores: their roof, and no time of the fp32 units.
sed 's/"bytes_touched": 262144/"tensor_f16": 33554432, &/' "$WORK/s.json" >"$WORK/t.json"
OUTPUT=$("${RENDERER[@]}" --json "$WORK/t.json" --contract "$WORK/flop.json" --gpu h100 \
    --kernel naive)
expect '327, arithmetic (tensor cores, f16) above. The roof here is 193.7 TFLOP/s'
expect 'tensor f16    34 ns     33,554,432 operations at 989.4 TFLOP/s (data sheet)'
expect_not 'fp32  '
sed -i 's/tensor_f16/tensor_f8/' "$WORK/t.json"
OUTPUT=$("${RENDERER[@]}" --json "$WORK/t.json" --kernel naive --gpu a100)
expect 'no published peak for tensor instructions on f8: their time is left out'
# Two rungs that do the same at this size are called alike; one that does more is not.
python3 - "$WORK/s.json" <<'PY' >"$WORK/alike.json"
import copy, json, sys
run = json.load(open(sys.argv[1]))
same, more = copy.deepcopy(run["kernels"][:1]), copy.deepcopy(run["kernels"][:1])
same[0]["section"], more[0]["section"] = "transpose_v2", "transpose_v3"
more[0]["grid"] = [9, 8, 1]
json.dump(run | {"kernels": run["kernels"][:1] + same + more}, sys.stdout)
PY
OUTPUT=$("${RENDERER[@]}" --json "$WORK/alike.json" --section v2 --html "$WORK/alike.html")
expect_not 'At this size'
OUTPUT=$("${RENDERER[@]}" --json "$WORK/alike.json" --html "$WORK/alike.html")
expect 'At this size it launches, moves and waits as transpose_v1 does'
[[ $(grep -c 'At this size' <<<"$OUTPUT$(<"$WORK/alike.html")") == 2 ]] \
    || complain 'other than once in the text and once in the page'
OUTPUT=$("${RENDERER[@]}" --json "$WORK/s.json" --section v2 2>&1)
expect "there is no version 'v2'; there are: transpose_v1"

# --- Registers, occupancy, the model ---------------------------------------------------
cat >"$WORK/ptxas" <<'PTXAS'
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z15transpose_tiledILi1EEvPKfPfi' for 'sm_90'
ptxas info    : Function properties for _Z15transpose_tiledILi1EEvPKfPfi
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 80 registers, used 1 barriers, 4224 bytes smem, 372 bytes cmem[0]
ptxas info    : Compiling entry function '_Z15transpose_naivePKfPfi' for 'sm_90'
ptxas info    : Function properties for _Z15transpose_naivePKfPfi
    16 bytes stack frame, 24 bytes spill stores, 32 bytes spill loads
ptxas info    : Used 18 registers, used 0 barriers, 372 bytes cmem[0]
PTXAS
render transpose --kernel 'tiled<1>' --gpu h100 --ptxas "$WORK/ptxas"
# 80 registers: 2560 a warp, 25 warps, 24 by fours, 3 blocks of 8.
expect '80 a thread, 4,224 bytes shared'
expect '38 %, 24 of 64 warps'
expect 'limited by registers'
render transpose --kernel naive --gpu t4 --ptxas "$WORK/ptxas"
expect '18 a thread'
expect 'SPILLED: 24 bytes out, 32 bytes in'
expect '100 %, 32 of 32 warps'
expect 'a model, not a measurement'
expect 'Tesla T4'
render transpose --kernel naive --gpu h100
expect 'install nvcc to see registers and occupancy'
# All fits the L2 cache: each sector counts once for DRAM, 524 kB at 3,026 GB/s.
expect '524 kB at 3,026 GB/s (measured)'
# Many updates of one address, on a GPU where nobody measured what they cost.
sed 's/"op": "store"/"op": "atomic"/
    s/"bytes_touched_written": 262144/"bytes_touched_written": 32/' \
    "$(recorded transpose)" >"$WORK/a.json"
OUTPUT=$("${RENDERER[@]}" --json "$WORK/a.json" --kernel naive --gpu a100)
expect 'atomic updates of one sector are left out'
OUTPUT=$("${RENDERER[@]}" --json "$WORK/a.json" --kernel naive --gpu h100)
expect 'bound by atomics'
render transpose --gpu voodoo2
expect_status 2
expect "there is no data of a GPU 'voodoo2'; there is a100, h100, rtx4090, t4"

# --- Measured ceilings of the learner's own GPU -----------------------------------------
cat >"$WORK/ceilings.json" <<'JSON'
{"machine": {"gpu": "NVIDIA A100-SXM4-80GB", "arch": "sm_80", "sms": 108},
 "ceilings": {"read": {"value": 1777, "unit": "GB/s"}, "copy": {"value": 1666, "unit": "GB/s"},
              "write": {"value": null, "unit": "GB/s"}}, "rows": [], "date": "2026-11-21"}
JSON
render transpose --gpu a100 --ceilings "$WORK/ceilings.json"
expect_status 0
expect '1,666 GB/s (measured)'
# They are of no use to the model of another GPU, or to a smaller one of the same name.
render transpose --gpu h100 --ceilings "$WORK/ceilings.json"
expect '3,026 GB/s (measured)'
sed -i 's/108/98/' "$WORK/ceilings.json"
render transpose --gpu a100 --ceilings "$WORK/ceilings.json"
expect '(data sheet x 0.92)'
echo '{}' >"$WORK/ceilings.json"
render transpose --gpu a100 --ceilings "$WORK/ceilings.json"
expect_status 2
expect 'holds no ceilings'

# --- The page --------------------------------------------------------------------------
render racy --quiet --gpu a100 --html "$WORK/deep/page.html"
expect_status 0
[[ -z $OUTPUT ]] || complain 'output although --quiet'
OUTPUT=$(<"$WORK/deep/page.html")
expect '<!doctype html>'
expect 'Data race: write after read'
expect 'class="line hot costly"'
expect 'transpose_tiled&lt;0&gt;'
expect '<svg class="boxes"'
expect 'prefers-color-scheme: dark'
# It needs nothing but itself.
expect_not 'src='
expect_not '<link'
expect_not 'https://'

# --- Bad input -------------------------------------------------------------------------
OUTPUT=$("${RENDERER[@]}" --json "$WORK/absent.json" 2>&1)
expect 'cannot read'
head -c 300 "$(recorded racy)" >"$WORK/cut.json"
OUTPUT=$("${RENDERER[@]}" --json "$WORK/cut.json" 2>&1)
expect 'is not JSON: was the program cut off?'
echo '{"version": 9}' >"$WORK/new.json"
OUTPUT=$("${RENDERER[@]}" --json "$WORK/new.json" 2>&1)
expect 'has version 9 of the format'
echo '{"version": 1, "kernels": []}' >"$WORK/none.json"
OUTPUT=$("${RENDERER[@]}" --json "$WORK/none.json" 2>&1)
expect 'the program launched no kernel that was checked'
OUTPUT=$("${RENDERER[@]}" --json x --jsn y 2>&1)
expect 'unrecognized arguments: --jsn y'

if ((FAILURES > 0)); then
    echo "$FAILURES checks failed"
    exit 1
fi
echo 'all checks passed'
