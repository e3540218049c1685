#!/usr/bin/env bash
# reject.sh: is a report with one wrong number rejected?
#
#     tools/reject.sh COMPARE FOLDER
#
# Needs the report that check.sh has left for transpose.
set -eu -o pipefail

examples=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
compare=$1 folder=$2
table=$examples/expected/transpose.tsv
for number in requests sectors; do
    sed "s/\"$number\": *512\b/\"$number\":513/; s/\"$number\": *2048\b/\"$number\":2049/" \
        "$folder/transpose.json" >"$folder/wrong.json"
    if cmp -s "$folder/transpose.json" "$folder/wrong.json"; then
        echo "the report does not look as expected" && exit 1
    fi
    if "$compare" "$table" "$examples/transpose.cu" "$folder/wrong.json" >/dev/null; then
        echo "wrong $number were not noticed" && exit 1
    fi
done
