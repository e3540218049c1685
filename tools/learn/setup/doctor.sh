# ./learn doctor: what was found, what is missing, and what to do about it.
# shellcheck shell=bash

doctor() {
    local problems=0
    # A wish that cannot be met (--gpu without one) is a finding here, not the end.
    choose_preset 2>/dev/null || PRESET=cuda BUILD_DIR=build/cuda
    doctor_system
    doctor_tools
    doctor_gpu
    doctor_book
    doctor_folder
    say
    if ((problems == 0)); then
        say "All is well; exercises run $(device_in_words)."
        return 0
    fi
    if ((problems == 1)); then
        say "1 of these needs attention."
    else
        say "$problems of these need attention."
    fi
    return 1
}

# found WHAT TEXT / lacking WHAT TEXT: one line each; lacking counts as a problem of the
# caller's caller. absent: not there, and that is fine.
found() { printf '%s  ok     %s%-12s %s\n' "$GREEN" "$PLAIN" "$1" "$2"; }
absent() { printf '  --     %-12s %s\n' "$1" "$2"; }
lacking() {
    printf '%s  FIX    %s%-12s %s\n' "$RED" "$PLAIN" "$1" "${*:2}"
    problems=$((problems + 1))
}

doctor_system() {
    local name
    name=$(sed -n 's/^PRETTY_NAME="\(.*\)"$/\1/p' /etc/os-release 2>/dev/null)
    found system "${name:-$(uname -s)}, $(uname -m), $(nproc 2>/dev/null || echo 2) processors"
    case $(uname -s)-$(uname -m) in
        Linux-x86_64 | Linux-aarch64) ;;
        *) lacking system "Warpbook runs on Linux, x86-64 or aarch64 (on Windows: WSL2)" ;;
    esac
}

doctor_tools() {
    local compiler version
    if compiler=$(find_compiler) && version=$(compiler_version "$compiler"); then
        found compiler "$version ($compiler)"
        if version=$(catch2_version "$compiler"); then
            found catch2 "version $version"
        else
            lacking catch2 "not found: ./learn setup installs it"
        fi
        if find_blas "$compiler"; then
            found blas "cblas.h"
        elif [[ $PRESET == cuda* ]]; then
            absent blas "not found, not needed: a GPU has cuBLAS"
        else
            lacking blas "not found: ./learn setup installs libopenblas-dev"
        fi
        if has_json "$compiler"; then
            found json "nlohmann/json.hpp"
        else
            lacking json "not found: ./learn setup installs nlohmann-json3-dev"
        fi
    else
        lacking compiler "no C++ compiler: ./learn setup installs g++"
        lacking libraries "need a compiler: ./learn setup installs catch2," \
            "libopenblas-dev and nlohmann-json3-dev"
    fi
    version=$(cmake_version)
    if [[ -n $version ]]; then
        found cmake "$version"
    else
        lacking cmake "not found: ./learn setup installs it"
    fi
    if version=$(ninja_version); then
        found ninja "$version"
    else
        lacking ninja "not found: ./learn setup installs it"
    fi
    if version=$(python_version); then
        found python "$version ($(find_python))"
    else
        lacking python "not found: ./learn setup installs python3"
    fi
    if version=$(version_problem); then lacking versions "$version"; fi
}

doctor_gpu() {
    local nvcc names driver problem
    if nvcc=$(find_nvcc); then
        if ! problem=$(nvcc_problem "$nvcc"); then
            found nvcc "$(nvcc_release "$nvcc") ($nvcc)"
        elif [[ $DEVICE == gpu ]]; then
            lacking nvcc "$problem"
        else
            absent nvcc "$problem; until then the simulator runs the exercises"
        fi
    else
        absent nvcc "not found, not needed: the simulator runs the exercises"
    fi
    if names=$(gpu_names); then
        names=$(printf '%s' "$names" | sed 's/ (UUID.*//' | paste -s -d ';')
        driver=$(gpu_query driver_version)
        found gpu "$names, driver $driver"
        [[ -n $nvcc ]] || absent gpu "to use it, install the CUDA toolkit"
    elif [[ $PRESET == cuda* ]]; then
        lacking gpu "--gpu was asked for, but nvidia-smi reports no GPU"
    else
        absent gpu "none found; the simulator runs the exercises"
    fi
    doctor_nccl "$nvcc"
}

# Only the chapter on several GPUs needs NCCL, and only where there are some.
doctor_nccl() {
    local compiler where
    if [[ -z $1 ]] || ! compiler=$(find_compiler); then
        absent nccl "not needed: the simulator has its calls"
    elif where=$(find_nccl "$compiler" "$1"); then
        found nccl "$where"
    else
        absent nccl "not found; several GPUs need it (libnccl-dev, or PyTorch's: README.md)"
    fi
}

# Only ./learn book needs Node: without it nothing is wrong.
doctor_book() {
    local version
    if ! version=$(node --version 2>/dev/null) || ! command -v npm >/dev/null; then
        absent book "no Node and npm; ./learn book installs them, after asking"
    elif ! version_at_least "${version#v}" 18; then
        absent book "Node ${version#v} is too old for ./learn book: 18 or newer"
    elif ! cmp -s package-lock.json node_modules/.warpbook-lock; then
        absent book "Node ${version#v}; ./learn book installs its packages, after asking"
    else
        found book "Node ${version#v} and the book's packages"
    fi
}

doctor_folder() {
    local problem
    if problem=$(disk_problem); then
        lacking folder "$problem"
    else
        found folder "$ROOT, $(($(free_disk_kb) / 1024 / 1024)) GB free"
    fi
    if [[ -f $BUILD_DIR/learn-configured ]]; then
        found build "$BUILD_DIR"
    else
        absent build "$BUILD_DIR is not configured yet; ./learn does it"
    fi
    if (($(id -u) == 0)); then
        absent user "you are root; an ordinary user is enough"
    fi
}
