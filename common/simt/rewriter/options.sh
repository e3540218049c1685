# The command line of simt-c++: nvcc's options, and what they come to.
# shellcheck shell=bash
# Sourced by simt-c++, which defines fail, simt, build and compiler.

mode="link"     # link, compile, preprocess, dependencies, archive, device_link
arch=800        # the value of __CUDA_ARCH__
arch_feature=   # 90 for sm_90a
language=       # of -x
output=
optimization=
debug=
sources=()      # in the order of the command line, see compile_all
link_items=()   # objects and libraries, in order; @N stands for sources[N]
preprocess=()   # flags of the preprocessor
flags=()        # flags of the compiler
link_flags=()
rewriter_flags=()
ignored=()
dependency_file=
dependency_target=
write_dependencies=
dependency_flags=()
verbose=
dry_run=
run_program=
run_args=()
forward_unknown=
use_cublas=
asan=           # --asan
tsan=           # --tsan
check=          # of --check: "" (plain), safety, count

note_ignored() { ignored+=("$*"); }

# What data/ignored_options.txt says: the reason by the option, `=` behind those that have
# a value.
declare -A ignored_because
read_ignored_options() {
    local line reason="" option
    while read -r line; do
        [[ $line == \#* ]] && continue
        if [[ $line == *: ]]; then
            reason=${line%:}
        else
            for option in $line; do ignored_because[$option]=$reason; done
        fi
    done <"$simt/data/ignored_options.txt"
}
read_ignored_options

set_arch() { # sm_90a, compute_80, lto_75, native, all, all-major
    local name=${1//\"/}
    name=${name##*_}
    case $name in
        [0-9]*)
            local number=${name//[a-z]/}
            if ((number < 75)); then # older code paths would meet CUDA 13's functions
                note_ignored "$1: compiled for sm_75, the oldest that CUDA 13 knows"
                number=75
            fi
            ((number * 10 > arch || !arch_given)) && arch=$((number * 10))
            [[ $name == *a ]] && arch_feature=$number
            arch_given=1 ;;
        native | all | all-major) ;;
        *) fail "unknown architecture: $1" ;;
    esac
}
arch_given=0

set_generate_code() { # arch=compute_80,code=[sm_80,compute_80]
    [[ $1 =~ arch=([a-z]+_[0-9]+[af]?) ]] && set_arch "${BASH_REMATCH[1]}"
}

add_host_flags() { # of -Xcompiler: separated by commas or blanks
    local IFS=$', \t' item
    for item in $1; do
        item=${item//[\"\']/}
        [[ -n $item ]] && flags+=("$item") && link_flags+=("$item")
    done
}

add_library() {
    case $1 in
        cudart | cudart_static | cuda | cudadevrt | nvToolsExt | nvtx3interop) ;;
        cublas | cublas_static | cublasLt | cublasLt_static) use_cublas=1 ;;
        culibos) note_ignored "-l$1" ;;
        curand | curand_static) ;; # in the headers
        nccl | nccl_static) ;; # in the simulator
        cufft* | cusparse* | cusolver* | npp* | cudnn* | nvrtc* | nvjpeg* | \
            cutensor* | cufile | nvml | nvidia-ml)
            fail "-l$1: this library has no replacement on the CPU" ;;
        *) link_items+=("-l$1") ;;
    esac
}

add_include() { # a CUDA toolkit's own headers must not come before ours
    if [[ -e $2/cuda_runtime_api.h && ! $2 -ef $simt/headers/include ]]; then
        note_ignored "$1 $2"
    else
        preprocess+=("$1" "$2")
    fi
}

add_file() {
    local kind=$language
    # CMake says `-x c++` for every source that it has been told to be C++.
    [[ $kind == c++ && $1 == *.cu ]] && kind=cu
    if [[ -z $kind ]]; then
        case $1 in
            *.cu) kind=cu ;;
            *.cpp | *.cc | *.cxx | *.c++ | *.C | *.cp) kind=c++ ;;
            *.c) kind=c ;;
            *.ptx | *.cubin | *.fatbin) fail "$1: GPU code cannot run on the CPU" ;;
            *) link_items+=("$1"); return ;;
        esac
    fi
    [[ -e $1 ]] || fail "$1: no such file"
    link_items+=("@${#sources[@]}")
    sources+=("$kind:$1")
}

show_version() {
    echo "simt-c++: CUDA programs on the CPU, in place of nvcc"
    # By these words CMake knows whose options to use. Without them it asks for a toolkit.
    echo '(stands in for "nvcc: NVIDIA (R) Cuda compiler driver")'
    echo "Cuda compilation tools, release 13.0, V13.0.88 (stand-in)"
    echo "host compiler: $("${compiler[@]}" --version | head -1)"
}

show_help() {
    sed -n '2,12s/^# \{0,1\}//p' "$script"
    echo "Flags understood: -o -c -dc -E -M -MM -MD -MMD -MF -MT -I -isystem -D -U"
    echo "  -include -L -l -O -g -G -std -x -arch -gencode -rdc -Xcompiler -Xlinker -ccbin"
    echo "  --check (races, bounds, uninitialised reads), --check=count (and each line's cost)"
    echo "  --asan (AddressSanitizer: a second opinion on bounds)"
    echo "  --tsan (ThreadSanitizer: a second opinion on races within a block)"
    echo "  -lib -shared -run -v --dryrun --version, their long forms, and g++'s -f -W -m flags."
}

# Splits an option into $option and $value; `take` fetches a value from the next word.
parse() {
    while (($#)); do
        local word=$1 option=$1 value="" has_value=""
        shift
        case $word in
            -[DILlUW]* | -march=* | -mtune=* | -mcpu=*) ;;
            -f*=*) # nvcc's, or the host compiler's
                [[ ${ignored_because[${word%%=*}=]:-} ]] &&
                    option=${word%%=*} value=${word#*=} has_value=1 ;;
            -*=*) option=${word%%=*} value=${word#*=} has_value=1 ;;
        esac
        [[ $option == --* ]] && long_to_short
        # An option with a value: `-o x`, `--output-file=x`.
        local wants_value=${ignored_because[$option=]:+1}
        case $option in
            -o | -I | -isystem | -D | -U | -include | -L | -l | -x | -arch | -gencode | \
                -Xcompiler | -Xlinker | -ccbin | -MF | -MT | -MQ | -O | -rdc | \
                -default-stream | -Werror-kind | -optf | -m | -run-args | \
                -ftemplate-depth | -ftemplate-backtrace-limit)
                wants_value=1 ;;
        esac
        # g++'s has no value, nvcc's has: -Werror all-warnings
        case $option,${1:-} in
            -Werror,all-warnings | -Werror,*-* | -Werror,reorder)
                [[ $1 == -* || -e $1 ]] || option=-Werror-kind wants_value=1 ;;
        esac
        if [[ $wants_value && -z $has_value ]]; then
            (($#)) || fail "$word needs a value"
            value=$1
            shift
        fi
        handle "$word" "$option" "$value"
    done
}

long_to_short() {
    case $option in
        --output-file) option=-o ;;
        --include-path) option=-I ;;
        --system-include) option=-isystem ;;
        --define-macro) option=-D ;;
        --undefine-macro) option=-U ;;
        --pre-include) option=-include ;;
        --library-path) option=-L ;;
        --library) option=-l ;;
        --gpu-architecture) option=-arch ;;
        --gpu-code) option=-code ;;
        --generate-code) option=-gencode ;;
        --compiler-options) option=-Xcompiler ;;
        --linker-options) option=-Xlinker ;;
        --ptxas-options) option=-Xptxas ;;
        --nvlink-options) option=-Xnvlink ;;
        --compiler-bindir) option=-ccbin ;;
        --dependency-output) option=-MF ;;
        --dependency-target-name) option=-MT ;;
        --relocatable-device-code) option=-rdc ;;
        --optimize) option=-O ;;
        --device-debug) option=-G ;;
        --debug) option=-g ;;
        --generate-line-info) option=-lineinfo ;;
        --compile) option=-c ;;
        --device-c) option=-dc ;;
        --device-link) option=-dlink ;;
        --preprocess) option=-E ;;
        --generate-dependencies) option=-M ;;
        --generate-nonsystem-dependencies) option=-MM ;;
        --generate-dependencies-with-compile) option=-MD ;;
        --generate-nonsystem-dependencies-with-compile) option=-MMD ;;
        --generate-dependency-targets) option=-MP ;;
        --threads) option=-t ;;
        --options-file) option=-optf ;;
        --machine) option=-m ;;
        --lib) option=-lib ;;
        --link) option=-link ;;
        --Werror) option=-Werror-kind ;;
        --profile) option=-pg ;;
        --no-exceptions) option=-noeh ;;
        --disable-warnings) option=-w ;;
        --list-gpu-arch) option=-arch-ls ;;
        --list-gpu-code) option=-code-ls ;;
        --clean-targets) option=-clean ;;
        *) option=-${option#--} ;;
    esac
}

handle() {
    local word=$1 option=$2 value=$3
    case $option in
        -o) output=$value ;;
        -c) mode=compile ;;
        -dc) mode=compile; rewriter_flags+=(--rdc); preprocess+=(-D__CUDACC_RDC__=1) ;;
        -dlink) mode=device_link ;;
        -lib) mode="archive" ;;
        -link) mode="link" ;;
        -E) mode=preprocess ;;
        -M | -MM) mode=dependencies; dependency_flags+=("$option") ;;
        -ptx | -cubin | -fatbin | -dw | -device-w | -optix-ir | -ltoir | -cuda)
            fail "$word: there is no GPU code" ;;
        -clean) fail "$word: delete the files yourself" ;;
        -arch-ls) printf 'compute_%s\n' 75 80 86 87 88 89 90 100 103 110 120 121; exit 0 ;;
        -code-ls) printf 'sm_%s\n' 75 80 86 87 88 89 90 100 103 110 120 121; exit 0 ;;
        -run) run_program=1 ;;
        -run-args) read -r -a run_args <<<"$value" ;;
        -v | -verbose) verbose=1 ;;
        -dryrun) verbose=1; dry_run=1 ;;
        -V | -version) show_version; exit 0 ;;
        -h | -help) show_help; exit 0 ;;
        -I) add_include -I "$value" ;;
        -I*) add_include -I "${word#-I}" ;;
        -isystem) add_include -isystem "$value" ;;
        -D | -U) preprocess+=("$option$value") ;;
        -D* | -U*) preprocess+=("$word") ;;
        -include) preprocess+=(-include "$value") ;;
        -L) link_items+=("-L$value") ;;
        -L*) link_items+=("$word") ;;
        -lineinfo) [[ -z $debug ]] && debug=-g ;;
        -l | -l*)
            [[ $option == -l ]] || value=${word#-l}
            local library
            for library in ${value//,/ }; do add_library "$library"; done ;;
        -x) [[ $value == none ]] && value=; language=$value ;;
        -arch) set_arch "$value" ;;
        -gencode) set_generate_code "$value" ;;
        -Xcompiler) add_host_flags "$value" ;;
        -Xlinker) link_items+=("-Wl,$value") ;;
        -Wl,*) link_items+=("$word") ;;
        -ccbin) compiler=("$value"); [[ -d $value ]] && compiler=("$value/g++") ;;
        -MD | -MMD) write_dependencies=1; dependency_flags+=("$option") ;;
        -MP) dependency_flags+=(-MP) ;;
        -MF) dependency_file=$value ;;
        -MT | -MQ) dependency_target=$value ;;
        -rdc)
            if [[ $value == true ]]; then
                rewriter_flags+=(--rdc)
                preprocess+=(-D__CUDACC_RDC__=1)
            fi ;;
        -O) optimization=-O$value ;;
        -O[0-9sg] | -Ofast) optimization=$word ;;
        -g | -g[0-3] | -ggdb*) debug=$word ;;
        -G) debug=-g; [[ -z $optimization ]] && optimization=-O0
            preprocess+=(-D__CUDACC_DEBUG__=1) ;;
        -pg | -p) flags+=(-pg); link_flags+=(-pg) ;;
        -extended-lambda | -expt-extended-lambda)
            preprocess+=(-D__CUDACC_EXTENDED_LAMBDA__=1)
            rewriter_flags+=(--extended-lambda) ;;
        -expt-relaxed-constexpr)
            preprocess+=(-D__CUDACC_RELAXED_CONSTEXPR__=1)
            rewriter_flags+=(--expt-relaxed-constexpr) ;;
        -use_fast_math) preprocess+=(-D__USE_FAST_MATH__=1) ;;
        -default-stream)
            [[ $value == per-thread ]] &&
                preprocess+=(-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1) ;;
        -shared) link_flags+=(-shared); flags+=(-fPIC) ;;
        -m) [[ $value == 32 ]] && fail "-m32: only 64-bit programs" ;;
        -m32) fail "-m32: only 64-bit programs" ;;
        -w) flags+=(-w) ;;
        -noeh) flags+=(-fno-exceptions) ;;
        -fdevice-syntax-only) flags+=(-fsyntax-only) ;;
        -ftemplate-depth | -ftemplate-backtrace-limit) flags+=("$option=$value") ;;
        -forward-unknown*) forward_unknown=1 ;;
        --simt-build-dir | -simt-build-dir) # of CMake, which has options for g++ only
            SIMT_BUILD_DIR=$value build=$value forward_unknown=1 ;;
        -sanitize) fail "$word: see --check" ;;
        -check) check=${value:-safety}
            [[ $check == safety || $check == count ]] ||
                fail "--check=$check: it is --check or --check=count" ;;
        -asan) asan=1 ;;
        -tsan) tsan=1 ;;
        -optf)
            local words=()
            [[ -r $value ]] || fail "cannot read the options file $value"
            read -r -d '' -a words <"$value"
            parse "${words[@]}" ;;
        -Werror-kind) [[ $value == all-warnings ]] && flags+=(-Werror) ;;
        -Werror) flags+=(-Werror) ;;
        *)
            local reason=${ignored_because[$option]:-${ignored_because[$option=]:-}}
            if [[ $reason ]]; then
                [[ $has_value ]] || word+=${value:+ $value}
                note_ignored "$word: $reason"
            else
                other "$word"
            fi ;;
    esac
}

# What nvcc does not have: a file, or an option of the host compiler.
other() {
    case $1 in
        -W* | -m* | -f* | -pthread | -pedantic* | -ansi | -static*)
            flags+=("$1"); link_flags+=("$1") ;;
        -) fail "cannot read the program from standard input" ;;
        -*)
            [[ $forward_unknown ]] ||
                fail "unknown option $1: pass it on with -Xcompiler, if g++ has it"
            flags+=("$1") ;;
        *) add_file "$1" ;;
    esac
}
