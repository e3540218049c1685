# ./learn (the next exercise) and ./learn check (any).
# shellcheck shell=bash

# The first chapter that has not passed: build, grade, say what to do.
cmd_next() {
    local i
    if (($# > 0)); then
        fail "./learn takes a command: './learn check $1'? (./learn help lists all.)"
        return
    fi
    prepare || return
    if ! i=$(first_unpassed_chapter); then
        report_course_done
        return
    fi
    check_one "$i"
}

cmd_check() {
    local argument solution=0 chapters=()
    for argument in "$@"; do
        case $argument in
            --solution) solution=1 ;;
            *) chapters+=("$argument") ;;
        esac
    done
    set -- "${chapters[@]}"
    if ((solution)); then
        cmd_check_solution "$@"
        return
    fi
    if (($# == 0)); then
        prepare_single || return
    else
        prepare_chapters "$@" || return
    fi
    if ((${#SELECTED[@]} == 1)); then
        check_one "${SELECTED[0]}"
    else
        check_many
    fi
}

check_one() {
    local i=$1
    if grade "$i"; then
        report "$i"
        congratulate "$i"
        return 0
    fi
    report "$i"
    return 1
}

# Several chapters: one line each, then the first one that needs work in full.
check_many() {
    local i first='' passed=0
    for i in "${SELECTED[@]}"; do
        if grade "$i"; then
            passed=$((passed + 1))
            verdict "$i" "$GREEN" "passed, $(count_cases "$G_PASSED")"
        else
            verdict "$i" "$RED" "$(state_in_words)"
            first=${first:-$i}
        fi
    done
    say
    say "$passed of ${#SELECTED[@]} chapters pass $(device_in_words)."
    if [[ -z $first ]]; then return 0; fi
    say
    grade "$first"
    report "$first"
    return 1
}

# state_in_words: G_STATE in a few words, for one line of a list.
state_in_words() {
    case $G_STATE in
        unsolved) echo 'not solved yet' ;;
        unsafe) echo "right, but $(unsafe_in_words | tr '[:upper:]' '[:lower:]')" ;;
        failing) echo "not right yet, $G_FAILED of $((G_PASSED + G_FAILED)) cases fail" ;;
        nocompile) echo 'does not compile' ;;
        invalid) echo 'does not compile for a GPU' ;;
        skipped) echo 'not graded, this device cannot run it' ;;
        nofile) echo 'its file is missing' ;;
        broken) echo 'could not be built' ;;
        stopped) echo 'not graded, some cases did not run' ;;
        full) echo 'not graded, the disk is full' ;;
        *) echo 'not graded' ;;
    esac
}

# congratulate I: after a pass; what comes next.
congratulate() {
    local next day=${CHAPTER_DAY[$1]}
    if day_is_complete "$day"; then
        say "  Well done: that is all of day $((10#${day#day}))."
    else
        say "  Well done."
    fi
    next_step Compare "./learn solution ${CHAPTER_NAME[$1]}"
    if next=$(first_unpassed_chapter); then
        next_step Next "${CHAPTER_PATH[$next]}/lesson.md, then ./learn"
    else
        report_course_done
    fi
}

report_course_done() {
    local last=${CHAPTER_DAY[-1]} here
    here=$((10#${last#day}))
    say "${GREEN}All ${#CHAPTER_NAME[@]} chapters have passed.$PLAIN"
    if ((here < ${#DAY_TITLES[@]} - 1)); then
        say "Day $((here + 1)) is not written yet: git pull brings what is new."
    fi
    next_step Again "./learn check day01"
}
