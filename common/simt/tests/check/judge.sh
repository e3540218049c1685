#!/bin/bash
# Runs the planted bugs of some programs and says which were found:
#
#     judge.sh MODE SOURCE_DIR PROGRAM...   prints "case kind verdict" for each case
#
# MODE is check, plain, asan or tsan. A bug counts as found if the report is of the right kind
# and names a line whose comment has the case's name. The verdict is "found", "missed",
# "other" (a report of something else) or, for a correct program, "silent" or
# "FALSE ALARM".
set -u

mode=$1 sources=$2
shift 2
export SIMT_CHECK_TABLE=0 SIMT_TIME_LIMIT=5
# No thread of a kernel lives when a program ends: waiting a second for what the others
# do finds nothing more.
export TSAN_OPTIONS=atexit_sleep_ms=0${TSAN_OPTIONS:+:$TSAN_OPTIONS}

# The places that a report names, as file:line.
places() {
    grep -oE '[A-Za-z_]+\.cu:[0-9]+' <<<"$1" | sort -u
}

# Is a place of the report marked with the case's name?
names_the_bug() { # report case
    local place line
    for place in $(places "$1"); do
        # addr2line sometimes names the including file with the included one's line.
        for file in "$sources/${place%:*}" $([[ $place == all.cu:* ]] &&
            echo "$sources"/*.cu); do
            line=$(sed -n "${place#*:}p" "$file")
            [[ $line == *//*"$2"* ]] && return 0
            [[ $line == *"// flash_*"* && $2 == flash_* ]] && return 0
        done
    done
    return 1
}

# The part of the output that reports findings of the right kind.
report_of_kind() { # output kind
    # The runtime reports these, in every mode.
    [[ $2 == refused_launch ]] && { grep -E '^==SIMT== .* is refused' <<<"$1"; return; }
    case $mode in
        check) grep -E "^    $2 " <<<"$1" ;;
        plain) grep -A3 '^==SIMT==' <<<"$1" ;;
        asan) grep -A3 -E '^==SIMT==|^ *#0 ' <<<"$1" ;;
        tsan) [[ $2 == race ]] && grep -A2 -E '^ *#0 ' <<<"$1" ;;
    esac
}

judge() { # program case kind
    local output report
    output=$(timeout 60 "$1" "$2" 2>&1)
    local status=$?
    if [[ $3 == none ]]; then
        if ((status == 0)) && ! grep -qE '==SIMT==|Sanitizer' <<<"$output"; then
            echo silent
        else
            echo "FALSE ALARM"
        fi
        return
    fi
    report=$(report_of_kind "$output" "$3")
    if [[ -z $report ]]; then
        if grep -qE '==SIMT==|Sanitizer' <<<"$output"; then echo other; else echo missed; fi
    elif names_the_bug "$report" "$2"; then
        echo found
    else
        echo other
    fi
}

for program; do
    while read -r name kind; do
        printf '%s\t%s\t%s\n' "$name" "$kind" "$(judge "$program" "$name" "$kind")"
    done < <("$program")
done
