#!/usr/bin/env bash
# dev_check.sh: every chapter has all its parts, and they belong together.
#
#     tools/dev_check.sh [--starter PROGRAM] [--committed] [CHECKOUT]
#
#     --starter PROGRAM  wb_starter; without it, tools/starter.cpp is compiled first
#     --committed        also: the starters in git's last commit are what the solutions
#                        in it give. For CI: a learner may commit what they like.
#
# A learner's own file is never looked at: what the lesson shows of it, and its TODOs,
# are looked for in the starter that the solution gives.
set -u -o pipefail

readonly FEWEST_MUTANTS=5
readonly SECTIONS=('Why this matters' 'The picture' 'The idea' 'Worked numbers'
    'The contract' 'Your turn' 'Check' 'Hints' 'Measured' 'Find the bug'
    'What would you try next?')
STARTER_PROGRAM=
COMMITTED=0
ROOT=
PROBLEMS=0

problem() {
    PROBLEMS=$((PROBLEMS + 1))
    printf '%s: %s\n' "$1" "$2"
}

usage() {
    printf 'usage: dev_check.sh [--starter PROGRAM] [--committed] [CHECKOUT]\n' >&2
    exit 2
}

read_arguments() {
    while (($# > 0)); do
        case $1 in
            --starter)
                (($# >= 2)) || usage
                STARTER_PROGRAM=$(realpath -e -- "$2") || exit 2
                shift
                ;;
            --committed) COMMITTED=1 ;;
            -*) usage ;;
            *) ROOT=$1 ;;
        esac
        shift
    done
    ROOT=${ROOT:-$(dirname "${BASH_SOURCE[0]}")/..}
    cd "$ROOT" || exit 2
}

# check_parts PATH NAME: false if one is missing or empty.
check_parts() {
    local part complete=0
    for part in "$1/lesson.md" "$1/hints.md" "$1/$2.h" "$1/$2.cu" "solutions/$1/$2.cu" \
        "tests/$1/$2_test.cpp" "tests/$1/$2_bench.cpp"; do
        if [[ ! -s $part ]]; then
            problem "$part" 'missing or empty'
            complete=1
        fi
    done
    return "$complete"
}

# check_starter PATH NAME: leaves the starter in $SCRATCH/PATH.
check_starter() {
    local starter=$SCRATCH/$1/$2.cu
    mkdir -p "$SCRATCH/$1"
    if ! "$STARTER_PROGRAM" "solutions/$1/$2.cu" "$starter"; then
        problem "solutions/$1/$2.cu" 'gives no starter'
        return
    fi
    if ! grep -q 'TODO(learner)' "$starter"; then
        problem "solutions/$1/$2.cu" 'its starter has no TODO(learner)'
    fi
    if ! grep -q 'WB_NOT_SOLVED()' "$starter"; then
        problem "solutions/$1/$2.cu" 'its starter has no WB_NOT_SOLVED()'
    fi
}

# check_committed PATH NAME: git's starter against git's solution.
check_committed() {
    local file
    for file in "$1/$2.cu" "solutions/$1/$2.cu"; do
        mkdir -p "$SCRATCH/git/${file%/*}"
        if ! git show "HEAD:./$file" >"$SCRATCH/git/$file" 2>/dev/null; then
            problem "$file" 'is not committed'
            return
        fi
    done
    if ! "$STARTER_PROGRAM" --check "$SCRATCH/git/solutions/$1/$2.cu" \
        "$SCRATCH/git/$1/$2.cu" >/dev/null 2>&1; then
        problem "$1/$2.cu" "as committed, is not what solutions/$1/$2.cu gives"
    fi
}

check_hints() {
    if ! awk '/^## Hint / { ++n; if ($3 != n) bad = 1; next }
              n && NF { text[n] = 1 }
              END { exit !(n == 3 && text[1] && text[2] && text[3] && !bad) }' "$1"; then
        problem "$1" 'must have ## Hint 1, ## Hint 2 and ## Hint 3, each with a text'
    fi
}

# check_lesson PATH NAME: its sections, and all that it includes.
check_lesson() {
    local lesson=$1/lesson.md section line file region mark
    for section in "${SECTIONS[@]}"; do
        if ! grep -qxF "## $section" "$lesson"; then
            problem "$lesson" "has no section \"$section\""
        fi
    done
    while IFS= read -r line; do
        line=${line#<<< }
        line=${line%%\{*}
        file=${line%%#*}
        region=${line#"$file"}
        region=${region#'#'}
        case $file in
            "./$2.cu") file=$SCRATCH/$1/$2.cu ;;
            @/*) file=${file#@/} ;;
            *) file=$1/$file ;;
        esac
        if [[ ! -f $file ]]; then
            problem "$lesson" "includes $line, a file that does not exist"
            continue
        fi
        if [[ -z $region ]]; then continue; fi
        for mark in "#region $region" "#endregion $region"; do
            if (($(grep -cE "^[+]? *// $mark\$" "$file") != 1)); then
                problem "$lesson" "includes $line, but \"// $mark\" is not there once"
            fi
        done
    done < <(grep '^<<< ' "$lesson")
    while IFS= read -r file; do
        if [[ ! -f $1/$file ]]; then
            problem "$lesson" "includes $file, a file that does not exist"
        fi
    done < <(sed -n 's/^<!--@include: *\([^ ]*\) *-->$/\1/p' "$lesson")
}

check_mutants() {
    local mutant count=0 comment rejected_by
    # Those of orders/ and sim/ are built for the simulator only.
    for mutant in "tests/$1/mutants/"{,orders/,sim/,goals/}*.{diff,cu}; do
        if [[ ! -f $mutant || $mutant == */right*.cu ]]; then continue; fi
        if [[ $mutant != */goals/* ]]; then count=$((count + 1)); fi
        comment='#'
        if [[ $mutant == *.cu ]]; then comment='//'; fi
        if ! head -n 1 "$mutant" | grep -qE "^$comment [^ ]" ||
            head -n 1 "$mutant" | grep -qE "^$comment (Rejected by|Edits):"; then
            problem "$mutant" "has no first line \"$comment what is wrong\""
        fi
        rejected_by=$(sed -n "s|^$comment Rejected by: ||p" "$mutant")
        if [[ -z $rejected_by ]]; then
            problem "$mutant" "has no line \"$comment Rejected by: test case\""
        elif ! grep -qF "\"$rejected_by\"" "tests/$1/$2_test.cpp"; then
            problem "$mutant" "is rejected by \"$rejected_by\", which is no test case"
        fi
    done
    if ((count < FEWEST_MUTANTS)); then
        problem "tests/$1/mutants" "$count mutants, at least $FEWEST_MUTANTS are wanted"
    fi
}

# check_chapter_list PATHS: as many lines wb_chapter(PATH), in this order.
check_chapter_list() {
    local declared found
    declared=$(sed -n 's/^wb_chapter(\([^ )]*\).*$/\1/p' CMakeLists.txt)
    found=$(printf '%s\n' "$@")
    if [[ $declared != "$found" ]]; then
        problem CMakeLists.txt 'its wb_chapter() lines are not the chapters in order:'
        diff <(printf '%s\n' "$declared") <(printf '%s\n' "$found") | grep '^[<>]'
    fi
}

main() {
    local path name chapters=()
    read_arguments "$@"
    SCRATCH=$(mktemp -d) || exit 2
    trap 'rm -rf "$SCRATCH"' EXIT
    if [[ -z $STARTER_PROGRAM ]]; then
        STARTER_PROGRAM=$SCRATCH/wb_starter
        "${CXX:-c++}" -std=c++20 -o "$STARTER_PROGRAM" tools/starter.cpp || exit 2
    fi
    for path in day[0-9][0-9]-*/[0-9][0-9]-*; do
        if [[ -d $path ]]; then chapters+=("$path"); fi
    done
    for path in "${chapters[@]}"; do
        name=${path##*/}
        name=${name#*-}
        name=${name//-/_}
        check_parts "$path" "$name" || continue
        check_starter "$path" "$name"
        if ((COMMITTED)); then check_committed "$path" "$name"; fi
        check_hints "$path/hints.md"
        check_lesson "$path" "$name"
        check_mutants "$path" "$name"
    done
    check_chapter_list "${chapters[@]}"
    printf '%d chapters, %d problems\n' "${#chapters[@]}" "$PROBLEMS"
    ((PROBLEMS == 0 && ${#chapters[@]} > 0))
}

main "$@"
