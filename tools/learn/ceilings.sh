# ./learn ceilings: what this GPU can do at most, measured once and kept for the tables
# of ./learn bench and for the model of ./learn xray.
# shellcheck shell=bash

CEILINGS_FILE=$PROGRESS_DIR/ceilings.json

cmd_ceilings() {
    local program
    if (($# > 0)); then
        fail "./learn ceilings takes no argument, but was given '$1'."
        return
    fi
    prepare || return
    if [[ $PRESET != cuda* ]]; then
        fail "Ceilings are measured on a GPU, and there is none here. Without one," \
            "./learn xray --gpu h100 uses those that we measured on an H100."
        return
    fi
    if ! BUILDING='the measuring program' build_targets wb_ceilings; then
        report_build_failure '' | indent
        fail "The program wb_ceilings could not be built (the log: $BUILD_LOG)."
        return
    fi
    program=$(find_program wb_ceilings) || return
    mkdir -p "$PROGRESS_DIR" || return
    note "This takes about a minute; close what else uses the GPU."
    run "$program" "$CEILINGS_FILE" || return
    note "  written to $CEILINGS_FILE: ./learn bench and ./learn xray read it there"
}

# ceilings_options: the option, one word a line, for programs that can use what was
# stored; nothing if nothing was.
ceilings_options() {
    if [[ -s $CEILINGS_FILE ]]; then printf '%s\n' --ceilings "$ROOT/$CEILINGS_FILE"; fi
}
