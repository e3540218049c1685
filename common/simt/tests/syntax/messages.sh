#!/bin/bash
# messages.sh SIMT_CXX: what simt-c++ says about mistakes. Each line of messages/ with the
# comment `// says: TEXT` behind it or above it has an error with that text; nothing
# speaks of the simulator's own files; and a message is few lines long.
set -u
compiler=$1
cd "$(dirname "$0")/messages" || exit
failed=0
fail() {
    echo "$1"
    sed 's/^/    /' <<<"$output"
    failed=1
}
for source in *.cu; do
    # g++'s quotes are those of C.
    if output=$(LC_ALL=C "$compiler" -O0 -fsyntax-only -c "$source" -o /dev/null 2>&1); then
        fail "$source compiled"
        continue
    fi
    errors=0
    while IFS=: read -r file line expected; do
        ((++errors))
        [[ $expected =~ ^\ *//\ says ]] && ((++line))
        expected=${expected#*// says: }
        grep -E "^$file:$line:([0-9]+:)? (fatal )?error: " <<<"$output" |
            grep -qF -- "$expected" || fail "$file:$line does not say: $expected"
    done < <(
        sed -n 's/^#include "\(.*\)"/\1/p' "$source" |
            xargs grep -n -H '// says: ' "$source"
    )
    grep -vE '^ +[0-9]* \|' <<<"$output" | grep -q 'simt\|type_identity\|std::enable_if' &&
        fail "$source speaks of the simulator's insides"
    # An error, three lines of source, and CUDA's functions of that name.
    (($(wc -l <<<"$output") <= errors * 6 + 3)) || fail "$source is told in many lines"
    # A refusal is one line.
    grep -A1 'guard .* SIMT_CPU$' <<<"$output" | grep -qE '^ +[0-9]+ \|' &&
        fail "$source: a refusal of several lines"
done
((failed)) || echo "all as expected"
exit $failed
