#!/usr/bin/env bash
# run_test.sh PROGRAM: what a run of transpose.cu writes today is what the
# renderer reads, and has the cost that the recorded run has.
set -u -o pipefail
HERE=$(cd "$(dirname "$0")" && pwd -P)
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT

SIMT_CHECK_TABLE=0 SIMT_CHECK_JSON=$WORK/run.json "$1" || exit 1
sed "s|@DIR@|$HERE|g; s/\"findings\": .*/\"findings\": []}/" "$HERE/recorded.json" \
    >"$WORK/recorded.json"
for run in run recorded; do
    python3 -B "$HERE/../../tools/xray" --json "$WORK/$run.json" --root "$HERE" --gpu h100 \
        >"$WORK/$run.txt" || exit 1
done
# Which template arguments a name has, and in which order the costs of a line come (the
# first one stands beside the source), may change.
facts() { sed -E 's/<[^>]*>//; s/ +[0-9]* *\|.*//' "$1" | tr -s ' ' | sort; }
if ! diff <(facts "$WORK/recorded.txt") <(facts "$WORK/run.txt"); then
    echo 'the run (>) costs something else than the recorded one (<)'
    exit 1
fi
grep -q '78 % of the sectors that it moves are wasted, by transpose.cu:13' "$WORK/run.txt"
