# ./learn watch: grades again whenever the chapter is saved; moves on when it passes.
# shellcheck shell=bash

WATCH_POLL_SECONDS=0.5

cmd_watch() {
    local i before
    prepare_single "$@" || return
    i=${SELECTED[0]}
    # Ctrl-C is how one leaves: say so and end well.
    trap 'printf "\nStopped watching.\n"; exit 0' INT TERM
    while true; do
        watch_clear
        # Before grading: a save meanwhile must not be missed.
        before=$(file_state "${CHAPTER_FILE[$i]}")
        lock || return
        if check_one "$i"; then
            if (($# > 0)) || ! i=$(first_unpassed_chapter); then return 0; fi
        fi
        unlock
        say
        note "Watching ${CHAPTER_FILE[$i]}; save it to grade again, Ctrl-C to stop."
        wait_for_change "${CHAPTER_FILE[$i]}" "$before"
    done
}

# A clean screen for each grade, but only where there is a screen.
watch_clear() {
    if [[ -t 1 && ${TERM:-dumb} != dumb ]]; then printf '\e[H\e[2J'; fi
}

# wait_for_change FILE BEFORE: returns when FILE is no longer in the state BEFORE. The
# folder is watched, not the file: many editors save by writing a new file and renaming
# it. The state decides, because other files live in that folder.
wait_for_change() {
    local file=$1
    while [[ $(file_state "$file") == "$2" ]]; do
        if command -v inotifywait >/dev/null; then
            # The time limit covers a save between the comparison and the call.
            inotifywait -q -q -t 2 -e close_write,moved_to,create "${file%/*}"
        else
            sleep "$WATCH_POLL_SECONDS"
        fi
    done
}

file_state() { stat -c '%Y.%y %s %i' "$1" 2>/dev/null; }
