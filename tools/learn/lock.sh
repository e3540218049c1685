# One ./learn at a time in a checkout: two builds in one folder break each other. The
# lock is flock's, on .learn/lock; the kernel lifts it when the last process that holds
# it ends, however it ends.
#
# CMake and ninja inherit it, so that a build that was left behind by a killed ./learn is
# waited for. Test programs do not: one that hangs must not keep the folder locked.
# shellcheck shell=bash

LOCK_FILE=$PROGRESS_DIR/lock
LOCK_FD=9          # a command gives it up with 9>&-
LOCK_BUSY=75       # flock's exit status when somebody else holds the lock
LOCKED=0
COMMAND_LINE=''    # what the learner typed behind ./learn

# lock: takes the lock, waiting for its turn. Where there is no flock, or the file system
# has no locks, everything works as before. WB_LOCKED names the checkout that a calling
# ./learn has locked already.
lock() {
    if ((LOCKED)) || [[ ${WB_LOCKED:-} == "$ROOT" ]]; then return 0; fi
    if ! command -v flock >/dev/null || ! mkdir -p "$PROGRESS_DIR" 2>/dev/null ||
        ! { : >>"$LOCK_FILE"; } 2>/dev/null; then
        return 0
    fi
    exec 9>>"$LOCK_FILE"
    flock -n -E "$LOCK_BUSY" "$LOCK_FD" 2>/dev/null
    if (($? == LOCK_BUSY)); then
        lock_holder
        flock "$LOCK_FD" || return
    fi
    LOCKED=1
    export WB_LOCKED=$ROOT
    trap unlock EXIT
    printf '%sprocess %s, since %(%H:%M)T\n' "${COMMAND_LINE:+$COMMAND_LINE, }" "$$" -1 \
        2>/dev/null >"$LOCK_FILE"
    return 0
}

# lock_holder: one line on who is at work.
lock_holder() {
    local holder process
    holder=$(<"$LOCK_FILE")
    process=${holder##*process }
    if [[ $process =~ ^[0-9]+ ]] && ! kill -0 "${BASH_REMATCH[0]}" 2>/dev/null &&
        [[ ! -d /proc/${BASH_REMATCH[0]} ]]; then
        note "A build that another ./learn ($holder) left behind is still at work in" \
            "this folder; waiting for it ..."
    else
        note "Another ./learn${holder:+ ($holder)} is at work in this folder; waiting" \
            "for it ..."
    fi
}

# unlock: also for processes that have inherited the lock and outlive this one, such as
# a compiler cache's server.
unlock() {
    if ((LOCKED)); then
        flock -u "$LOCK_FD"
        exec 9>&-
        LOCKED=0
        unset WB_LOCKED
    fi
}
