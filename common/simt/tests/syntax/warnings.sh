#!/bin/bash
# warnings.sh SIMT_CXX: what a plain program says when it runs. Each line of warnings/
# with the comment `// says: TEXT` is named in one line with that text, or, if the text
# begins with kernel, that kernel is; no other line is named.
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
for source in *.cu; do
    output=$("$compiler" -O1 -w "$source" -o "$work/program" 2>&1) || fail "$source"
    output=$(ulimit -c 0; "$work/program" 2>&1 | grep '==SIMT==')
    said=0
    while IFS=: read -r line expected; do
        ((++said))
        expected=${expected#*// says: }
        at="at $source:$line: "
        [[ $expected == kernel* ]] && at=
        (($(grep -cF -- "$at$expected" <<<"$output") == 1)) ||
            fail "$source:$line does not say once: $expected"
    done < <(grep -n '// says: ' "$source")
    (($(wc -l <<<"$output") == said)) || fail "$source says more"
done
((failed)) || echo "all as expected"
exit $failed
