#!/usr/bin/env bash
# dev_style.sh: what we wrote is at most 88 columns wide, formatted, and names no folder
# of the machine that it was written on. Scripts, whose quoted texts cannot be broken,
# lists and pages beside the lessons have 100 columns. Python and shell scripts have no
# slips that a program which reads them can see.
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
readonly WIDE_LIMIT=100
# In brackets, or this line would be found.
readonly MACHINE_PATHS='(^|[^A-Za-z0-9_.$}])/(wor[k]|roo[t])/'
# What the rewriter must read: odd layouts, and in refused/ a whole message on a line.
readonly FREE_LAYOUT='^common/simt/tests/(nvcc|syntax)/'
PROBLEMS=0

problem() {
    PROBLEMS=$((PROBLEMS + 1))
    printf '%s: %s\n' "$1" "$2"
}

# A table, an address, an include and a tag of a lesson cannot be broken into lines.
check_width() {
    local place whole='^[^:]+\.md:[0-9]+:(\||<<< |.*(https?://|\]\(\.)|'
    whole+='.*<(Measured|LadderTable|RungDiff) )|url\('
    while IFS= read -r place; do
        problem "$place" "more than $COLUMNS_LIMIT columns"
    done < <({
        grep -rnIE --include='*.cu*' --include='*.h' --include='*.cpp' --include='*.md' \
            --include='*.py' "^.{$((COLUMNS_LIMIT + 1)),}" "${OURS[@]}" |
            grep -vE "$whole|$FREE_LAYOUT"
        # The mark before a line of an edit is no part of it; a path has no place to
        # break.
        grep -rnIE --include='*.diff' \
            "^[-+ ].{$((COLUMNS_LIMIT + 1)),}|^[^-+ ].{$COLUMNS_LIMIT,}" "${OURS[@]}" |
            grep -v ':# Edits: '
    } | cut -d: -f1,2)
    while IFS= read -r place; do
        problem "$place" "more than $WIDE_LIMIT columns"
    done < <(grep -rnIE --include='*.sh' --include='*.cmake' --include='*.txt' \
        --include='simt-c++' --include='*.js' --include='*.mjs' --include='*.vue' \
        --include='*.css' --include='*.html' --include='*.md' "^.{$((WIDE_LIMIT + 1)),}" \
        "${OURS[@]}" "${BESIDE[@]}" | grep -vE "$whole" | cut -d: -f1,2)
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
        sed -n 's/:[0-9]*:[0-9]*: warning: .*//p' | sort -u | grep -vE "$FREE_LAYOUT")
}

check_machine_paths() {
    local place
    while IFS= read -r place; do
        problem "$place" 'names a folder of one machine'
    done < <(grep -rnIE "$MACHINE_PATHS" "${OURS[@]}" "${BESIDE[@]}" \
        CMakePresets.json 2>/dev/null | cut -d: -f1,2)
}

check_python() {
    local line
    while IFS= read -r line; do
        problem "${line%%: *}" "${line#*: }"
    done < <(find "${OURS[@]}" "${BESIDE[@]}" -name '*.py' \
        -exec python3 -B "$TOOLS/dev_python.py" {} +)
}

# Names that a script sets for another one that reads it are not known to be used.
check_shell() {
    local line
    if ! command -v shellcheck >/dev/null; then
        printf 'shell scripts not checked: there is no shellcheck\n'
        return
    fi
    while IFS= read -r line; do
        problem "${line%%: *}" "${line#*: }"
    done < <(find "${OURS[@]}" "${BESIDE[@]}" \
        \( -name '*.sh' -o -path learn -o -path .ci/run -o -name 'simt-c++' \) \
        -exec shellcheck -x -S warning -e SC2034,SC2154 -f gcc {} +)
}

TOOLS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P) || exit 2
cd "${1:-$TOOLS/..}" || exit 2
# What is built is not ours.
OURS=(common day*-*/*/*.{h,cuh,cpp,md} solutions tests/!(learn) tools README.md)
# Patterns, so that what a checkout lacks is not looked for.
BESIDE=(@(cmake|docs|learn|CMakeLists.txt|CONTRIBUTING.md) .c[i] tests/learn/*.sh
    tests/learn/@(course|graded|CMakeLists.txt) book/!(dist) book/.vitepress/them[e])
check_width
check_format
check_python
check_shell
check_machine_paths
printf '%d problems\n' "$PROBLEMS"
((PROBLEMS == 0))
