# The learner's progress: .learn/progress, a small text file, one line per chapter:
#
#   day01.vector_add  passed  2026-11-21  2026-11-21  1
#
# that is: chapter, last grade (new, unsolved, failing, unsafe, nocompile, passed), the
# day of that grade, the day it first passed (or -), hints shown. Deleting the file or a
# line only forgets; no learner's code is touched.
# shellcheck shell=bash

PROGRESS_DIR=.learn
PROGRESS_FILE=$PROGRESS_DIR/progress

# progress_field KEY N: field N of a chapter's line; N: 2 grade, 3 graded on, 4 first
# passed on, 5 hints shown. The defaults of a chapter never graded when it has no line.
progress_field() {
    local key grade graded passed hints
    local fields=('' "$1" new - - 0)
    if [[ -f $PROGRESS_FILE ]]; then
        while read -r key grade graded passed hints; do
            if [[ $key == "$1" ]]; then
                fields=('' "$key" "$grade" "$graded" "$passed" "$hints")
            fi
        done <"$PROGRESS_FILE"
    fi
    printf '%s' "${fields[$2]:--}"
}

# has_passed KEY: true once the chapter has passed, also if it was changed since.
has_passed() { [[ $(progress_field "$1" 4) != - ]]; }

# progress_write KEY GRADE GRADED PASSED HINTS: replaces the chapter's line. Written
# aside and moved, so that neither an interrupted run nor a full disk can leave half a
# file; the text is compared, because a disk may become full in the middle.
progress_write() {
    local temporary=$PROGRESS_FILE.$$ others='' text
    if [[ -f $PROGRESS_FILE ]]; then
        others=$(awk -v key="$1" '!/^#/ && NF && $1 != key' "$PROGRESS_FILE") || return
    fi
    text="# Warpbook progress, kept by ./learn. Safe to read, edit or delete.
# chapter  last-grade  graded-on  first-passed-on  hints-shown
${others:+$others
}$1  $2  $3  $4  $5"
    if mkdir -p "$PROGRESS_DIR" && printf '%s\n' "$text" >"$temporary" &&
        [[ $(<"$temporary") == "$text" ]] && mv "$temporary" "$PROGRESS_FILE"; then
        return 0
    fi 2>/dev/null
    rm -f "$temporary"
    fail "Your progress could not be written to $PROGRESS_FILE, which is as it was before" \
        "(is the disk full?)."
}

# progress_record_grade KEY GRADE: after a check.
progress_record_grade() {
    local today passed
    printf -v today '%(%Y-%m-%d)T' -1
    passed=$(progress_field "$1" 4)
    if [[ $2 == passed && $passed == - ]]; then passed=$today; fi
    progress_write "$1" "$2" "$today" "$passed" "$(progress_field "$1" 5)"
}

# progress_record_hints KEY COUNT: after a hint.
progress_record_hints() {
    progress_write "$1" "$(progress_field "$1" 2)" "$(progress_field "$1" 3)" \
        "$(progress_field "$1" 4)" "$2"
}
