# Words on the screen, for what runs before there is a Python; see ui.py.
# shellcheck shell=bash

RED='' GREEN='' DIM='' PLAIN=''

# ui_init PLAIN: colours, unless PLAIN is 1, stdout is no terminal, the terminal is "dumb"
# or NO_COLOR is set (https://no-color.org).
ui_init() {
    if [[ $1 == 1 || -n ${NO_COLOR:-} || ${TERM:-dumb} == dumb || ! -t 1 ]]; then return; fi
    RED=$'\e[31m' GREEN=$'\e[32m' DIM=$'\e[2m' PLAIN=$'\e[0m'
}

say() { printf '%s\n' "$*"; }

# fail TEXT: one sentence on stderr; returns 2, the exit status of "could not even try".
fail() {
    printf '%s%s%s\n' "$RED" "$*" "$PLAIN" >&2
    return 2
}

# show_command ARGS: prints the command under -v.
show_command() {
    if ((VERBOSE)); then printf '%s$ %s%s\n' "$DIM" "$*" "$PLAIN" >&2; fi
}

# confirm QUESTION: true for yes, which is also the answer to Enter and to --yes. Without
# a terminal nobody can answer, so the answer is no rather than a hang.
confirm() {
    local answer
    if ((ASSUME_YES)); then return 0; fi
    if [[ ! -t 0 ]]; then return 1; fi
    read -r -p "$1 [Y/n] " answer || return 1
    [[ -z $answer || $answer == [Yy]* ]]
}
