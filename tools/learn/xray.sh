# ./learn xray: runs a program in the simulator with every memory access announced to
# its checker, and shows what each line costs and what is unsafe.
# shellcheck shell=bash

XRAY_DIR=build/xray   # where reports go
XRAY_GPUS=common/simt/data/gpus.json
XRAY_SOLUTION=0       # --solution
XRAY_RUNG=''          # --rung
XRAY_KERNEL=''        # --kernel
XRAY_SIZE=''          # --size
XRAY_GPU=h100         # --gpu: whose speed the model predicts
XRAY_SEED=''          # --seed
XRAY_HTML=''          # --html
XRAY_TARGET=''        # a chapter, as typed, or a .cu file
XRAY_ARGUMENTS=()     # behind --: those of the learner's own program

cmd_xray() {
    xray_parse "$@" || return
    # The simulator counts, whatever else this machine has.
    # shellcheck disable=SC2034 # read by choose_preset
    DEVICE=cpu
    if [[ ${WB_PRESET:-} == cuda* ]]; then WB_PRESET=sim; fi
    if is_own_program "$XRAY_TARGET"; then
        xray_program "$XRAY_TARGET"
    else
        xray_chapter
    fi
}

# xray_parse ARGS: fills the XRAY_ variables.
xray_parse() {
    while (($# > 0)); do
        case $1 in
            --solution) XRAY_SOLUTION=1 ;;
            --rung | --kernel | --size | --gpu | --seed | --html)
                if (($# < 2)) || [[ -z $2 ]]; then
                    fail "$1 needs a value after it (./learn help xray)."
                    return
                fi
                xray_option "$1" "$2" || return
                shift
                ;;
            --)
                shift
                XRAY_ARGUMENTS=("$@")
                break
                ;;
            -*)
                fail "./learn xray has no option '$1' (./learn help xray lists them)."
                return
                ;;
            *)
                if [[ -n $XRAY_TARGET ]]; then
                    fail "One chapter or file at a time, please: $XRAY_TARGET, $1" \
                        "(arguments of your own program stand behind --)."
                    return
                fi
                XRAY_TARGET=$1
                ;;
        esac
        shift
    done
    if [[ -n $XRAY_SEED && ! $XRAY_SEED =~ ^[0-9]+$ ]]; then
        fail "--seed is '$XRAY_SEED', but must be a whole number."
        return
    fi
    if [[ -f $XRAY_GPUS && -z $(xray_architecture) ]]; then
        fail "There is no data of a GPU '$XRAY_GPU'; there is" \
            "$(sed -n 's/^    "\([a-z0-9]*\)": {$/\1/p' "$XRAY_GPUS" | paste -s -d ' ')."
    fi
}

# xray_option NAME VALUE
xray_option() {
    case $1 in
        # A rung is one of the solution's.
        --rung) XRAY_RUNG=$2 XRAY_SOLUTION=1 ;;
        --kernel) XRAY_KERNEL=$2 ;;
        --size) XRAY_SIZE=$2 ;;
        --gpu) XRAY_GPU=${2,,} ;;
        --seed) XRAY_SEED=$2 ;;
        --html) XRAY_HTML=$(absolute_path "$2") ;;
    esac
}

# absolute_path PATH: seen from where ./learn was called.
absolute_path() {
    if [[ $1 == /* ]]; then printf '%s' "$1"; else printf '%s/%s' "$INVOKED_FROM" "$1"; fi
}

# is_own_program TYPED: a .cu file that is not a chapter's?
is_own_program() {
    [[ $1 == *.cu ]] || return
    local path
    path=$(realpath -q -m -- "$(absolute_path "$1")")
    [[ $path != "$ROOT"/day[0-9]* && $path != "$ROOT"/solutions/day[0-9]* ]]
}

# xray_chapter: the learner's file, or the solution's rungs, on the benchmark's inputs.
xray_chapter() {
    local i target who=xray file program title
    local arguments=()
    [[ -n $XRAY_TARGET ]] && arguments=("$XRAY_TARGET")
    prepare_single "${arguments[@]}" || return
    i=${SELECTED[0]}
    file=${CHAPTER_FILE[$i]}
    title=$(chapter_label "$i")
    if [[ $XRAY_TARGET == *solutions/* ]]; then XRAY_SOLUTION=1; fi
    if ((XRAY_SOLUTION)); then
        who=xray_solution
        file=solutions/$file
        title+=", the solution"
    elif [[ ! -f $file ]]; then
        fail "$file is missing; ./learn reset ${CHAPTER_NAME[$i]} puts the starter there."
        return
    fi
    target=$(chapter_target "$i")_$who
    xray_build "$target" "$file" || return
    program=$(find_program "$target") || return
    local options=(--xray "$(xray_file "$target" contract)")
    [[ -n $XRAY_SIZE ]] && options+=(--size "$XRAY_SIZE")
    xray_run "$target" "$program" "${options[@]}" || return
    xray_registers "$target" "$file" -I "${CHAPTER_PATH[$i]}" -I common/include \
        -I common/reference/include
    xray_show "$target" "$title" \
        "build/cuda/$(chapter_target "$i")_bench$( ((XRAY_SOLUTION)) || echo _learner)"
}

# xray_build TARGET FILE: the program and the renderer.
xray_build() {
    local problem BUILDING='what the report is made with'
    if build_targets wb_xray "$1"; then return 0; fi
    if grep -q "unknown target 'wb_xray'" "$BUILD_LOG"; then
        # Configured before the JSON parser was installed.
        set_up && configure && build_targets wb_xray "$1" && return
    fi
    if grep -q "unknown target '$1'" "$BUILD_LOG"; then
        fail "This chapter has no benchmark whose inputs the report could use; make" \
            "a small program of it: ./learn xray path/to/program.cu"
    elif problem=$(full_disk); then
        fail "$problem"
    else
        first_compile_error "$2" | indent >&2
        fail "It does not compile: ./learn check says more (the log: $BUILD_LOG)."
    fi
}

# xray_program FILE: the learner's own program, straight through simt-c++.
xray_program() {
    local file name program
    file=$(realpath -q -e -- "$(absolute_path "$1")") || {
        fail "There is no file $1."
        return
    }
    if [[ -n $XRAY_SIZE || -n $XRAY_RUNG ]]; then
        fail "--size and --rung are for chapters; give your own program its sizes as" \
            "arguments: ./learn xray $1 -- ARGUMENTS"
        return
    fi
    prepare || return
    name=${file##*/}
    name=${name%.cu}
    xray_build simt_driver "$file" || return
    program=$XRAY_DIR/$name
    mkdir -p "$XRAY_DIR" || return
    if ! SIMT_BUILD_DIR=$ROOT/$BUILD_DIR \
        while_shown compiling "Compiling $name ..." run_logged "$XRAY_DIR/$name.log" \
        common/simt/simt-c++ --check=count -I common/include "$file" -o "$program"; then
        relative_paths <"$XRAY_DIR/$name.log" | head -n 15 | indent >&2
        fail "It does not compile (all of it: $XRAY_DIR/$name.log)."
        return
    fi
    xray_run "$name" "$program" "${XRAY_ARGUMENTS[@]}" || return
    xray_registers "$name" "$file" -I common/include
    xray_show "$name" "${file#"$ROOT"/}" "./$name ${XRAY_ARGUMENTS[*]}"
}

# xray_file NAME KIND: where one of the files of a run lies.
xray_file() { printf '%s' "$ROOT/$XRAY_DIR/$1.$2.json"; }

# xray_run NAME PROGRAM ARGS: runs it under the checker. What it finds is no failure of
# the run; a program that writes no report is one.
xray_run() {
    local name=$1 json status log limit=${XRAY_TIME_LIMIT:-300}
    shift
    if ((TIME_LIMIT > 0)); then limit=$TIME_LIMIT; fi
    json=$(xray_file "$name" run)
    log=$XRAY_DIR/$name.log
    mkdir -p "$XRAY_DIR" || return
    rm -f "$json" "$(xray_file "$name" contract)"
    note "Running it under the checker; it is some hundred times slower than usual ..."
    run_logged "$log" env SIMT_CHECK_JSON="$json" SIMT_CHECK_TABLE=0 SIMT_CHECK_EXIT=0 \
        SIMT_SEED="${XRAY_SEED:-${SIMT_SEED:-0}}" timeout --foreground "$limit" "$@"
    status=$?
    # A launch that is too large says with how many blocks it would not be.
    grep -A 1 '^==SIMT== note: .* is large for' "$log" | grep -v '^--' | wrapped
    if grep -q 'not solved yet: write the TODO' "$log"; then
        grep -m 1 -o 'not solved yet: write the TODO.*' "$log" | relative_paths
        fail "There is nothing to look at yet; --solution shows the solution's rungs."
        return
    fi
    if [[ -s $json ]]; then
        if ((status != 0 && status != SAFETY_FOUND)); then
            warn "The program ended with status $status; what it did before is shown" \
                "(its output: $log)."
        fi
        return 0
    fi
    if ((status == 124)); then
        fail "After $limit seconds it had not ended: choose a smaller problem (a" \
            "chapter: --size TEXT; your program: arguments behind --), or give it more" \
            "time: --time-limit $((limit * 4))."
    else
        tail -n 12 "$log" | relative_paths | indent >&2
        fail "The program ended with status $status before it could be judged" \
            "(its output: $log)."
    fi
}

# xray_registers NAME FILE FLAGS: what nvcc says of registers and spills, where it is.
xray_registers() {
    local name=$1 file=$2 nvcc output
    shift 2
    output=$XRAY_DIR/$name.ptxas
    rm -f "$output"
    nvcc=$(find_nvcc) || return 0
    while_shown 'asking nvcc for registers' 'Asking nvcc for registers and spills ...' \
        run_logged "$output" "$nvcc" -std=c++20 -cubin -Xptxas -v \
        -arch="$(xray_architecture)" -o /dev/null "$@" "$file" || rm -f "$output"
}

# xray_architecture: of the GPU whose model was asked for.
xray_architecture() {
    awk -v key="\"$XRAY_GPU\":" 'index($0, key) { on = 1 }
        on && match($0, /sm_[0-9a-z]+/) { print substr($0, RSTART, RLENGTH); exit }' \
        "$XRAY_GPUS"
}

# xray_show NAME TITLE PROGRAM: the report, as text and as a page.
xray_show() {
    local renderer stored page=${XRAY_HTML:-$XRAY_DIR/$1.html}
    renderer=$(find_program wb_xray) || return
    local options=(--json "$(xray_file "$1" run)" --title "$2" --program "$3"
        --root "$ROOT" --gpu "$XRAY_GPU" --html "$page" --width "$TERMINAL_WIDTH"
        --colour "$([[ -n $BOLD ]] && echo 1 || echo 0)")
    [[ -s $(xray_file "$1" contract) ]] && options+=(--contract "$(xray_file "$1" contract)")
    [[ -s $XRAY_DIR/$1.ptxas ]] && options+=(--ptxas "$XRAY_DIR/$1.ptxas")
    [[ -n $XRAY_KERNEL ]] && options+=(--kernel "$XRAY_KERNEL")
    [[ -n $XRAY_RUNG ]] && options+=(--section "$XRAY_RUNG")
    mapfile -t stored < <(ceilings_options)
    options+=("${stored[@]}")
    run "$renderer" "${options[@]}" || return
    say
    next_step Page "$page"
}
