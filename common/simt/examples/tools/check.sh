#!/usr/bin/env bash
# check.sh: does an example cost what its table says?
#
#     tools/check.sh NAME COMPARE FOLDER
#
# Compiles NAME.cu so that its accesses are counted, runs it and calls the program COMPARE.
# The simulator's report stays in FOLDER/NAME.json.
set -eu -o pipefail

examples=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
name=$1 compare=$2 folder=$3
mkdir -p "$folder"
"$examples/../simt-c++" --check=count "$examples/$name.cu" -o "$folder/$name"
rm -f "$folder/$name.json"
SIMT_CHECK_JSON=$folder/$name.json SIMT_CHECK_TABLE=0 "$folder/$name"
"$compare" "$examples/expected/$name.tsv" "$examples/$name.cu" "$folder/$name.json"
