#!/usr/bin/env bash
# dev_style.sh: what we wrote is at most 88 columns wide, formatted, and names no folder
# of the machine that it was written on.
#
#     tools/dev_style.sh [CHECKOUT]
#
# A learner's own files are never looked at. Formatting is checked by clang-format 14
# and by no other version, for each formats a little differently; without it, it is said
# that it was not checked.
set -u -o pipefail
shopt -s nullglob extglob
export LC_ALL=C.UTF-8 # columns are characters, not bytes

readonly COLUMNS_LIMIT=88
# In brackets, or this line would be found.
readonly MACHINE_PATHS='(^|[^A-Za-z0-9_.$}])/(wor[k]|roo[t])/'
PROBLEMS=0

problem() {
    PROBLEMS=$((PROBLEMS + 1))
    printf '%s: %s\n' "$1" "$2"
}

# A table, an address, an include and a tag of a lesson cannot be broken into lines.
check_width() {
    local place whole='\||<<< |.*https?://|.*<(Measured|LadderTable|RungDiff) '
    while IFS= read -r place; do
        problem "$place" "more than $COLUMNS_LIMIT columns"
    done < <({
        grep -rnIE --include='*.cu*' --include='*.h' --include='*.cpp' --include='*.md' \
            --include='*.py' "^.{$((COLUMNS_LIMIT + 1)),}" "${OURS[@]}" |
            grep -vE '^[^:]+\.md:[0-9]+:('"$whole)"
        # The mark before a line of an edit is no part of it.
        grep -rnIE --include='*.diff' \
            "^[-+ ].{$((COLUMNS_LIMIT + 1)),}|^[^-+ ].{$COLUMNS_LIMIT,}" "${OURS[@]}"
    } | cut -d: -f1,2)
}

check_format() {
    local file
    if [[ $(clang-format --version 2>/dev/null) != *'version 14.'* ]]; then
        printf 'formatting not checked: there is no clang-format 14\n'
        return
    fi
    while IFS= read -r file; do
        problem "$file" 'is not formatted: clang-format -i'
    done < <(find "${OURS[@]}" \( -name '*.cu*' -o -name '*.h' -o -name '*.cpp' \) \
        -exec clang-format --dry-run {} + 2>&1 |
        sed -n 's/:[0-9]*:[0-9]*: warning: .*//p' | sort -u)
}

check_machine_paths() {
    local place
    while IFS= read -r place; do
        problem "$place" 'names a folder of one machine'
    done < <(grep -rnIE "$MACHINE_PATHS" "${OURS[@]}" \
        .ci CMakeLists.txt CMakePresets.json cmake learn 2>/dev/null | cut -d: -f1,2)
}

# Python must at least compile; nothing needs to be installed to see that.
check_python() {
    local file
    while IFS= read -r file; do
        problem "$file" 'is no Python'
    done < <(find "${OURS[@]}" -name '*.py' -exec python3 -c '
import sys
for file in sys.argv[1:]:
    try:
        compile(open(file).read(), file, "exec")
    except SyntaxError:
        print(file)' {} +)
}

cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}" || exit 2
# The simulator is not in this form throughout yet.
OURS=(common/!(simt) day*-*/*/*.h day*-*/*/*.md solutions tests/day*-* tools README.md)
check_width
check_format
check_python
check_machine_paths
printf '%d problems\n' "$PROBLEMS"
((PROBLEMS == 0))
