# What nvcc refuses and a CPU lets pass. The simulator's rewriter refuses most of it: host
# functions of the file called in a kernel, a kernel called without <<<...>>>, a kernel
# that returns something. What only a compiler can see, clang's CUDA front end sees where
# there is a clang, without any toolkit: member functions and variables of the host used
# in a kernel, containers of the standard library; else nvcc is asked, if it is there.
# And inline PTX in a chapter whose solution has none.
#
# clang reads the simulator's headers, which were not written for it in this mode. So
# only messages of one kind are believed, and only about what the learner's file or the
# C++ library declares; the others are its trouble, not the learner's.
# shellcheck shell=bash

# lint I: prints the errors in chapter I's file, as a compiler does; nothing if there are
# none, or if they cannot be found here.
lint() {
    lint_ptx "$1"
    lint_sides "${CHAPTER_FILE[$1]}" -I "${CHAPTER_PATH[$1]}" -I common/include \
        -I common/reference/include
}

# code_of FILE: without comments and strings, line by line.
code_of() {
    awk '{
        line = $0
        gsub(/\\./, "", line)
        gsub(/"[^"]*"/, "\"\"", line)
        if (inside) {
            if (!match(line, /\*\//)) { print ""; next }
            line = substr(line, RSTART + 2)
            inside = 0
        }
        gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, " ", line)
        sub(/\/\/.*/, "", line)
        if (match(line, /\/\*/)) { line = substr(line, 1, RSTART - 1); inside = 1 }
        print line
    }' "$1"
}

# lint_ptx I: a chapter that teaches no PTX is to run on every GPU, and here.
lint_ptx() {
    local file=${CHAPTER_FILE[$1]} asm='(^|[^A-Za-z0-9_])(asm|__asm__)([^A-Za-z0-9_]|$)'
    if code_of "solutions/$file" | grep -q -E "$asm"; then return; fi
    code_of "$file" | grep -n -E "$asm" | cut -d: -f1 | while read -r line; do
        printf '%s:%s: error: inline PTX in a portable chapter: %s\n' "$file" "$line" \
            "its solution needs none, and PTX runs on NVIDIA's GPUs only"
    done
}

# find_clang: prints a clang++ that can read CUDA.
find_clang() {
    local candidate
    for candidate in ${CXX:+"$CXX"} clang++ clang++-{21,20,19,18,17,16,15,14}; do
        if [[ $candidate == *clang* ]] && command -v "$candidate"; then return 0; fi
    done
    return 1
}

# lint_sides FILE FLAGS: what of the host is used in kernels.
lint_sides() {
    local clang file=$1
    shift
    if ! clang=$(find_clang); then
        lint_by_nvcc "$file" "$@"
        return
    fi
    "$clang" -x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -nocudainc -nocudalib \
        -fsyntax-only -std=c++20 -w -ferror-limit=0 -fno-color-diagnostics \
        -D__CUDACC__=1 -include tools/learn/lint.h "$@" \
        -isystem common/simt/include "$file" 2>&1 | believed_errors "$file"
}

# lint_by_nvcc FILE FLAGS: the same where there is no clang but a CUDA toolkit. It takes
# some seconds, and its word on the file is final.
lint_by_nvcc() {
    local nvcc file=$1
    shift
    nvcc=$(find_nvcc) || return 0
    "$nvcc" -std=c++20 -arch=sm_80 -w -ptx -o /dev/null "$@" "$file" 2>&1 |
        sed -n -E 's/^([^(]*)\(([0-9]+)\): error( #[0-9A-Za-z-]+)?: /\1:\2: error: /p' |
        awk -F: -v file="$file" '$1 == file && !told[$2]++'
}

# believed_errors FILE: a filter for clang's messages, see above.
believed_errors() {
    awk -v file="$1" '
        function place(line) { return substr(line, 1, index(line, ": ") - 1) }
        function name_of(path) { sub(/:.*/, "", path); return path }
        function line_of(where,    parts) { split(where, parts, ":"); return parts[2] }
        function quoted_name(line,    rest) {
            rest = substr(line, index(line, "\047") + 1)
            return substr(rest, 1, index(rest, "\047") - 1)
        }
        function flush(    caller) {
            if (message == "") return
            # At a line of the file itself, or of something that the line calls.
            caller = name_of(where) == file ? where : called
            if (caller != "" && declared != "" && !foreign)
                if (!(line_of(caller) in told)) {
                    told[line_of(caller)] = 1
                    if (declared != file)
                        message = "a kernel cannot use this part of the C++ library: its" \
                            " function \"" name "\" runs on the host"
                    printf "%s:%s: error: %s\n", file, line_of(caller), message
                }
            message = ""
        }
        function believable(path) {
            return path == file || (path ~ /\/c\+\+\// && path !~ /\/(cmath|cstdlib|new)$/)
        }
        / error: / {
            flush()
            where = place($0); called = ""; declared = ""; foreign = 0
            if ($0 ~ /reference to __host__ function/)
                message = "calling a __host__ function(\"" quoted_name($0) \
                    "\") in a kernel is not allowed"
            else if ($0 ~ /reference to __host__ variable/)
                message = "the variable \"" quoted_name($0) "\" lies in the memory of" \
                    " the host; a kernel can have it as an argument"
            else if ($0 ~ /no matching (member )?function/)
                message = "calling a __host__ function(\"" quoted_name($0) \
                    "\") in a kernel is not allowed"
            if (where ~ /\/simt\/include\//) foreign = 1
            needs_candidate = $0 ~ /no matching/
            name = quoted_name($0)
        }
        / note: / && message != "" {
            path = name_of(place($0))
            if (path ~ /\/simt\/include\//) foreign = 1
            if ($0 ~ /note: called by/ && path == file) called = place($0)
            if ($0 ~ /declared here/ && !needs_candidate && believable(path)) declared = path
            if (needs_candidate && path == file && \
                $0 ~ /call to __host__ function from __(global|device)__/) declared = path
        }
        END { flush() }'
}
