#!/bin/bash
# warnings.sh SIMT_CXX: what a plain program says when it runs. Each line of warnings/
# with the comment `// says: TEXT` behind it, or several of them above it, is named in one
# line with these texts, or, if the text begins with kernel, that kernel is; no other line
# is named.
set -u
compiler=$1
cd "$(dirname "$0")/warnings" || exit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() {
    echo "$1"
    echo "    ${output//$'\n'/$'\n'    }"
    failed=1
}
# texts FILE: "line:text" of each expectation.
texts() {
    awk '{
        at = index($0, "// says: ")
        if (at) texts[++count] = substr($0, at + 9)
        if ($0 ~ /^ *\/\/ says: /) next
        for (i = 1; i <= count; ++i) print NR ":" texts[i]
        count = 0
    }' "$1"
}
for source in *.cu; do
    output=$("$compiler" -O1 -w "$source" -o "$work/program" 2>&1) || fail "$source"
    output=$(ulimit -c 0; "$work/program" 2>&1 | grep '==SIMT==')
    said=0
    last=0
    while IFS=: read -r line expected; do
        ((line == last)) || ((++said))
        last=$line
        at="at $source:$line: "
        [[ $expected == kernel* ]] && at=
        (($(grep -F -- "$at" <<<"$output" | grep -cF -- "$expected") == 1)) ||
            fail "$source:$line does not say once: $expected"
    done < <(texts "$source")
    (($(wc -l <<<"$output") == said)) || fail "$source says more"
done
((failed)) || echo "all as expected"
exit $failed
