# What ./learn says while something takes long. On a terminal: one line that counts,
# wiped at the end. Elsewhere: one line for each step that takes longer than PATIENCE
# seconds, and nothing for the others.
# shellcheck shell=bash

PATIENCE=2
STEP_WIDTH=79  # of the line that counts

# How ninja ("[3/12] Building ..."), ctest (" 3/12 Test #5: ...") and our test programs
# ("[3/12] race check") count.
STEP_LINE='^\[? *([0-9]+)/([0-9]+)(\]| Test)'

# show_progress DOING ANNOUNCEMENT [COMMAND...]: a filter that shows how far its input
# has come. DOING goes before the count; its part behind a colon or comma is left out
# while nothing has been counted. A %s in ANNOUNCEMENT stands for the number of steps, which COMMAND prints if
# no line has told it by then. An empty one has been said already.
show_progress() {
    local doing=$1 announcement=$2 line='' part count='' total='' what='' shown=0
    local started=$SECONDS
    shift 2
    while true; do
        if IFS= read -r -t 1 part; then
            line+=$part
            if [[ $line =~ $STEP_LINE ]]; then
                count=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]} what=''
                # "[0/2] Re-checking ..." counts something else.
                if ((count == 0)); then count='' total=''; fi
                part_in_words "$line"
            fi
            line=''
        elif (($? > 128)); then
            line+=$part # a second has passed
        else
            break
        fi
        if [[ -t 1 ]]; then
            if [[ -n $count ]]; then
                step_line "  $doing $count of $total${what:+: $what}"
            else
                step_line "  ${doing%[:,]*} ..."
            fi
            shown=1
        elif [[ -n $announcement ]] && ((!shown && SECONDS - started >= PATIENCE)); then
            if [[ -z $total && $announcement == *%s* ]]; then total=$("$@"); fi
            # shellcheck disable=SC2059 # the announcement is the format
            say "$(printf "$announcement" "$total")"
            shown=1
        fi
    done
    # Wipe the line: what follows is the verdict.
    if [[ -t 1 ]] && ((shown)); then
        step_line ''
        printf '\r'
    fi
}

# step_line TEXT: replaces the line that counts.
step_line() {
    local width=$STEP_WIDTH
    if ((TERMINAL_WIDTH > 0 && TERMINAL_WIDTH <= width)); then
        width=$((TERMINAL_WIDTH - 1))
    fi
    printf '\r%s%-*s%s' "$DIM" "$width" "${1:0:width}" "$PLAIN"
}

# part_in_words LINE: sets the caller's what: which part of the workbook a line of ninja's
# is about.
part_in_words() {
    case $1 in
        *'] package '*) what=${1##*] package } ;;
        *common/simt/* | *libsimt*) what='the simulator' ;;
        *common/* | *libwb* | *libreference*) what='the grader' ;;
        *tools/*) what='the tools of the workbook' ;;
        *)
            if [[ $1 =~ day[0-9][0-9]_([a-z_]+)(\.dir|$) ]]; then
                what=${BASH_REMATCH[1]%_kernels}
                what=${what%_learner} what=${what%_tests} what=${what%_checked}
            fi
            ;;
    esac
}

# while_shown DOING ANNOUNCEMENT COMMAND...: runs COMMAND, whose output goes elsewhere,
# and says so meanwhile. Its exit status is COMMAND's.
while_shown() {
    local doing=$1 announcement=$2
    shift 2
    "$@" | show_progress "$doing" "$announcement"
}

# run_tests LOG ARGS: runs ctest with its output in LOG and says how far it is.
run_tests() {
    local log=$1
    shift
    mkdir -p "${log%/*}" || return
    show_command ctest "$@"
    {
        ctest "$@" 2>&1 | tee "$log" 2>/dev/null |
            show_progress testing 'Testing %s cases ...' count_tests "$@"
    } 9>&-
}

# count_tests ARGS: how many tests ctest would run.
count_tests() { ctest "$@" -N 2>/dev/null | sed -n 's/^Total Tests: //p'; }
