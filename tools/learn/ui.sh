# Words on the screen: colours where they are welcome, one way to print each kind of
# message, and run(), which shows a command under -v before it executes it.
# shellcheck shell=bash

BOLD='' DIM='' RED='' GREEN='' YELLOW='' PLAIN=''
TERMINAL_WIDTH=0 # 0: there is none

# ui_init auto|never: sets the width and the colours. There are none when stdout is not
# a terminal, when NO_COLOR is set (https://no-color.org), when the terminal is "dumb".
ui_init() {
    if [[ -t 1 ]]; then
        TERMINAL_WIDTH=$(stty size <&1 2>/dev/null | cut -d " " -f 2)
        TERMINAL_WIDTH=${TERMINAL_WIDTH:-80}
    fi
    if [[ $1 == never || -n ${NO_COLOR:-} || ${TERM:-dumb} == dumb || ! -t 1 ]]; then
        return
    fi
    BOLD=$'\e[1m' DIM=$'\e[2m' RED=$'\e[31m' GREEN=$'\e[32m' YELLOW=$'\e[33m'
    PLAIN=$'\e[0m'
}

say() { printf '%s\n' "$*"; }

# note TEXT: an aside that may be skipped when reading.
note() { printf '%s%s%s\n' "$DIM" "$*" "$PLAIN"; }

warn() { printf '%s%s%s\n' "$YELLOW" "$*" "$PLAIN" >&2; }

# fail TEXT: one sentence on stderr; returns 2, the exit status of "could not even try"
# (1 is kept for "tried, and the answer is no").
fail() {
    printf '%s%s%s\n' "$RED" "$*" "$PLAIN" >&2
    return 2
}

# next_step LABEL COMMAND: one line of the list of things to do that ends a report.
next_step() { printf '  %-9s %s%s%s\n' "$1" "$BOLD" "$2" "$PLAIN"; }

# quoted ARGS: the words as one would type them in a shell.
quoted() {
    local word text=''
    for word in "$@"; do
        if [[ $word =~ ^[A-Za-z0-9_./:=,@%+-]+$ ]]; then
            text+=" $word"
        else
            text+=" '${word//\'/\'\\\'\'}'"
        fi
    done
    printf '%s' "${text# }"
}

# show_command ARGS: prints the command under -v. On stderr, so that it can never end up
# in a file that the output was sent to.
show_command() {
    if ((VERBOSE)); then
        printf '%s$ %s%s\n' "$DIM" "$(quoted "$@")" "$PLAIN" >&2
    fi
}

# run ARGS: executes a command and shows it under -v. It does not inherit the lock
# (lock.sh), here and in run_logged.
run() {
    show_command "$@"
    "$@" 9>&-
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

# relative_paths: a filter that makes the checkout's absolute paths relative to it.
relative_paths() {
    local line
    while IFS= read -r line || [[ -n $line ]]; do
        printf '%s\n' "${line//"$ROOT/"/}"
    done
}

# warn_about_sudo: everything but the installation of packages runs as the learner. Files
# made by root would lock the learner out of their own checkout.
warn_about_sudo() {
    if [[ -n ${SUDO_USER:-} && $SUDO_USER != root && $(id -u) == 0 ]]; then
        warn "You are running ./learn through sudo: the files it makes will belong to" \
            "root. Run it as $SUDO_USER; it asks for sudo itself when it needs it."
    fi
}

# run_logged LOG ARGS: as run(), with all output in the file LOG.
run_logged() {
    local log=$1
    shift
    mkdir -p "${log%/*}" || return
    show_command "$@"
    "$@" >"$log" 2>&1 9>&-
}

indent() { sed 's/^/    /'; }

# wrapped: a filter that breaks long lines between words where the terminal ends, with a
# hanging indent. Without a terminal the lines stay whole, for grep and for logs.
wrapped() {
    awk -v width=$((TERMINAL_WIDTH - 6)) '
        width < 40 { print; next }
        {
            match($0, /^ */)
            margin = substr($0, 1, RLENGTH)
            line = $0
            while (length(line) > width) {
                cut = width
                while (cut > RLENGTH + 1 && substr(line, cut, 1) != " ") cut--
                if (cut <= length(margin) + 4) break # one long word
                print substr(line, 1, cut - 1)
                line = margin "  " substr(line, cut + 1)
            }
            print line
        }'
}
