# What the workbook needs, found by capability rather than by package name: a CMake of
# one's own elsewhere on PATH counts, a package that does not work does not.
# shellcheck shell=bash

MINIMUM_CMAKE=3.25
MINIMUM_GXX=12
MINIMUM_CLANG=14
MINIMUM_NVCC=12.4
MINIMUM_PYTHON=3.11
MINIMUM_DISK_KB=$((1024 * 1024))

# version_at_least HAVE WANTED: 3.31.6 is at least 3.25.
version_at_least() { [[ $(printf '%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]; }

# find_compiler: prints the C++ compiler that CMake would take.
find_compiler() {
    local candidate
    for candidate in ${CXX:+"$CXX"} c++ g++ clang++; do
        command -v "$candidate" && return 0
    done
    return 1
}

# compiler_version COMPILER: "g++ 12" or "clang 14".
compiler_version() {
    local macros
    macros=$("$1" -E -dM -x c++ /dev/null 2>/dev/null) || return 1
    awk '$2 == "__GNUC__" { gnu = $3 } $2 == "__clang_major__" { clang = $3 }
         END { print clang ? "clang " clang : "g++ " gnu }' <<<"$macros"
}

# has_header COMPILER HEADER: also where CMake would look besides the usual places.
has_header() {
    local prefix prefixes include=()
    IFS=: read -r -a prefixes <<<"${CMAKE_PREFIX_PATH:-}"
    for prefix in "${prefixes[@]}"; do include+=(-I "$prefix/include"); done
    printf '#include <%s>\n' "$2" | "$1" "${include[@]}" -E -x c++ - >/dev/null 2>&1
}

cmake_version() { cmake --version 2>/dev/null | awk 'NR == 1 { print $3 }'; }

ninja_version() {
    if command -v ninja >/dev/null; then ninja --version; else ninja-build --version; fi
} 2>/dev/null

# python_version: "3.11"; false when there is none. find_python is ./learn's.
python_version() {
    local python
    python=$(find_python) &&
        "$python" -I -S -c 'import sys; print("%d.%d" % sys.version_info[:2])'
}

# has_python: with all of its standard library, which Debian's python3-minimal lacks.
has_python() {
    local python
    python=$(find_python) &&
        "$python" -I -S -c 'import difflib, json, xml.etree.ElementTree' &>/dev/null
}

# catch2_version COMPILER: "3" or "2"; false when neither header is there.
catch2_version() {
    if has_header "$1" catch2/catch_version_macros.hpp; then
        echo 3
    elif has_header "$1" catch2/catch.hpp; then
        echo 2
    else
        return 1
    fi
}

# find_blas COMPILER: the CPU BLAS behind the simulator's cuBLAS.
find_blas() { has_header "$1" cblas.h || has_header "$1" openblas/cblas.h; }

# find_nccl COMPILER NVCC: prints where NCCL's header is: in the folder that the build was
# given (WB_NCCL_ROOT), that NCCL_HOME names, beside CUDA's, or the system's.
find_nccl() {
    local cache root
    cache=$ROOT/build/cuda/CMakeCache.txt
    root=$(sed -n 's/^WB_NCCL_ROOT:PATH=//p' "$cache" 2>/dev/null)
    root=${root:-${NCCL_HOME:-}}
    if [[ -n $root ]]; then
        [[ -e $root/include/nccl.h ]] && echo "nccl.h in $root/include"
    else
        { has_header "$1" nccl.h ||
            [[ -e $(dirname "$(readlink -f "$2")")/../include/nccl.h ]]; } && echo nccl.h
    fi
}

# has_json COMPILER: what writes verdicts.
has_json() { has_header "$1" nlohmann/json.hpp; }

# missing_packages: prints the Debian packages that would supply what was not found, one
# a line. Nothing when everything is here.
missing_packages() {
    local compiler
    if compiler=$(find_compiler) && has_header "$compiler" version; then
        catch2_version "$compiler" >/dev/null || echo catch2
        # The BLAS serves the simulator only; on a GPU cuBLAS does the work.
        [[ $PRESET == cuda* ]] || find_blas "$compiler" || echo libopenblas-dev
        has_json "$compiler" || echo nlohmann-json3-dev
    else
        printf '%s\n' g++ catch2 libopenblas-dev nlohmann-json3-dev
    fi
    command -v cmake >/dev/null || echo cmake
    ninja_version >/dev/null || echo ninja-build
    # Whoever calls this without find_python is the command itself, in Python.
    if declare -F find_python >/dev/null && ! has_python; then echo python3; fi
}

# version_problem: one sentence for the first tool that is here but too old; false (and
# silent) when all are new enough.
version_problem() {
    local have compiler name
    have=$(cmake_version)
    if [[ -n $have ]] && ! version_at_least "$have" "$MINIMUM_CMAKE"; then
        echo "CMake $have is too old, Warpbook needs $MINIMUM_CMAKE or newer: get it" \
            "from https://cmake.org/download, or with 'pipx install cmake' or 'snap" \
            "install cmake --classic' (Ubuntu 22.04's own package stays at 3.22)."
        return 0
    fi
    if declare -F find_python >/dev/null && have=$(python_version) &&
        ! version_at_least "$have" "$MINIMUM_PYTHON"; then
        echo "Python $have is too old, Warpbook needs $MINIMUM_PYTHON or newer: name" \
            "one in the variable WB_PYTHON."
        return 0
    fi
    compiler=$(find_compiler) || return 1
    read -r name have < <(compiler_version "$compiler")
    case $name in
        g++) ((have >= MINIMUM_GXX)) && return 1 ;;
        clang) ((have >= MINIMUM_CLANG)) && return 1 ;;
        *)
            echo "The compiler $compiler does not work; try: $compiler --version"
            return 0
            ;;
    esac
    echo "The compiler $compiler is $name $have, Warpbook needs g++ $MINIMUM_GXX or" \
        "clang $MINIMUM_CLANG or newer: install one and name it, as in" \
        "CXX=g++-12 ./learn."
}

# free_disk_kb: room left where the build goes.
free_disk_kb() { df -Pk . | awk 'NR == 2 { print $4 }'; }

# disk_problem: one sentence when nothing can be written here; false when all is well.
disk_problem() {
    local free
    if [[ ! -w . ]]; then
        echo "This folder cannot be written to ($ROOT): clone Warpbook somewhere" \
            "that belongs to you."
        return 0
    fi
    free=$(free_disk_kb)
    if [[ -n $free ]] && ((free < MINIMUM_DISK_KB)); then
        echo "Only $((free / 1024)) MB of disk space are left in $ROOT, the build" \
            "needs 1 GB: free some space and run ./learn again."
        return 0
    fi
    return 1
}
