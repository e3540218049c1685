#!/bin/bash
# check.sh simt SIMT_CXX: simt-c++ takes each file of accepted/ and refuses each of
#     refused/, at the line that ends with `// here`, with the text that the file's first
#     line announces, `// expect: TEXT`.
# check.sh nvcc: so does nvcc, at the same line, in words of its own.
#
# `// flags: …` in a second line is for both. 77: there is no nvcc to ask.
set -u
side=$1
cd "$(dirname "$0")" || exit
case $side in
    simt)
        compiler=("$2" -O0 -fsyntax-only) accepting=(-c) ;;
    nvcc)
        PATH=$PATH:/usr/local/cuda/bin
        release=$(nvcc --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
        [[ $release ]] || { echo "skipped: no nvcc"; exit 77; }
        [[ $(printf '%s\n' 12.4 "$release" | sort -V | head -1) == 12.4 ]] ||
            { echo "skipped: nvcc $release is older than 12.4"; exit 77; }
        compiler=(nvcc -std=c++20 -gencode "arch=compute_90a,code=compute_90a")
        accepting=(-cuda) ;; # no host compiler, no assembler
    *) echo "usage: check.sh simt SIMT_CXX | check.sh nvcc"; exit 2 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 count=0

report() { # file message
    echo "$1: $2"
    sed 's/^/    /' "$work/log"
    failed=1
}

compile() { # file flags…
    local file=$1
    shift
    read -r -a flags < <(sed -n '1,2s|^// flags: ||p' "$file"; echo)
    "${compiler[@]}" "${flags[@]}" "${@:--c}" "$file" -o "$work/object" >"$work/log" 2>&1
}

for file in refused/*.cu; do
    ((++count))
    expected=$(sed -n '1s|^// expect: ||p' "$file")
    line=$(grep -n '// here$' "$file" | cut -d: -f1)
    if [[ -z $expected || ! $line =~ ^[0-9]+$ ]]; then
        : >"$work/log"
        report "$file" "needs a line // expect: and one that ends with // here"
    elif compile "$file"; then
        report "$file" "compiled, but should have been refused"
    elif [[ $side == simt ]]; then
        # The first error is the one that is read.
        grep -m1 -E "error: " "$work/log" |
            grep -E "^$file:$line:([0-9]+:)? (fatal )?error: " |
            grep -qF -- "$expected" || report "$file" "not refused at line $line with: $expected"
    else
        grep -qiE "^$file(\($line\)|:$line:[0-9]+): (fatal )?error" "$work/log" ||
            report "$file" "not refused at line $line"
    fi
done
for file in accepted/*.cu; do
    ((++count))
    compile "$file" "${accepting[@]}" || report "$file" "refused, but should have compiled"
done
((failed)) || echo "$count programs: as expected"
exit $failed
