#!/bin/bash
# refused.sh SIMT_CXX FILE.cu: the file must not compile, and the compiler must say what
# the file's first line, `// expect: TEXT`, announces: a text, or a regular expression
# if it contains `.*`. A file that expects a warning must compile.
set -u
compiler=$1 source=$2
expected=$(sed -n '1s|^// expect: ||p' "$source")
[[ -n $expected ]] || { echo "$source has no line // expect:"; exit 1; }
# Messages are full of what regular expressions give a meaning to.
[[ $expected == *'.*'* || $expected == *'|'* ]] ||
    expected=$(sed 's/[][().*+?{}|^$]/\\&/g' <<<"$expected")
object=$(mktemp)
trap 'rm -f "$object"' EXIT
if output=$("$compiler" -c "$source" -o "$object" 2>&1) &&
    [[ $expected != *warning* ]]; then
    echo "$source compiled, but should have been refused"
    exit 1
fi
if ! grep -qE -- "$expected" <<<"$output"; then
    printf 'expected: %s\ngot:\n%s\n' "$expected" "$output"
    exit 1
fi
