# ./learn lesson: a lesson in the terminal, with its code in place. Needs nothing but awk:
# what the book draws is left out, and folds stay closed unless --all opens them.
# shellcheck shell=bash

cmd_lesson() {
    local argument names=() all=0 i
    for argument in "$@"; do
        case $argument in
            --all) all=1 ;;
            -*)
                fail "./learn lesson knows --all, not '$argument'."
                return
                ;;
            *) names+=("$argument") ;;
        esac
    done
    # By the folders, not by the last build: a lesson needs none.
    choose_preset && BUILD_DIR='' load_course && select_single "${names[@]}" || return
    i=${SELECTED[0]}
    if [[ ! -f ${CHAPTER_PATH[$i]}/lesson.md ]]; then
        fail "$(chapter_label "$i") has no lesson (${CHAPTER_PATH[$i]}/lesson.md is" \
            "missing)."
        return
    fi
    lesson_text "$i" "$all" | paged
}

# lesson_text I ALL: the lesson of chapter I as text for a terminal.
lesson_text() {
    awk -v folder="${CHAPTER_PATH[$1]}" -v name="${CHAPTER_NAME[$1]}" -v all="$2" \
        -v figures="$(book_components)" -v bold="$BOLD" -v dim="$DIM" -v plain="$PLAIN" \
        -f tools/learn/lesson.awk "${CHAPTER_PATH[$1]}/lesson.md"
}

# book_components: names of everything that the book draws, separated by blanks.
# book/figures/bank-conflicts is <BankConflicts>.
book_components() {
    local file
    for file in book/components/*.vue; do
        file=${file##*/}
        printf '%s ' "${file%.vue}"
    done
    for file in book/figures/*/; do
        basename "$file" | awk -F - '{
            for (i = 1; i <= NF; i++) printf "%s", toupper(substr($i, 1, 1)) substr($i, 2)
            printf " "
        }'
    done
    printf Measured
}

# paged: a filter that shows long text page by page on a terminal.
paged() {
    if [[ ! -t 1 ]]; then
        cat
    elif [[ -n ${PAGER:-} ]]; then
        LESS=${LESS:-FRX} $PAGER
    elif command -v less >/dev/null; then
        LESS=${LESS:-FRX} less
    else
        cat
    fi
}
