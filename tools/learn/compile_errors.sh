# From a failed build to what the learner should read: the first error, with their own
# file and line, as g++, clang++ and nvcc put it.
# shellcheck shell=bash

COMPILE_ERROR_LINES=15

# first_compile_error FILE: prints the first error that names FILE (else the first one)
# with the lines that belong to it, at most COMPILE_ERROR_LINES.
#
# An error starts at "path:12:5: error:" (g++, clang++), "path(12): error" (nvcc) or a
# linker's "undefined reference"; notes, excerpts and carets follow until the next error
# or warning.
first_compile_error() {
    build_log_text | awk -v file="$1" -v limit="$COMPILE_ERROR_LINES" '
        function is_error(line) {
            return line ~ /^[^ ]+:[0-9]+:([0-9]+:)? (fatal )?error:/ ||
                   line ~ /^[^ ]+\([0-9]+\): (catastrophic )?error/ ||
                   line ~ /undefined reference to/ || line ~ /multiple definition of/
        }
        function is_boundary(line) {
            return is_error(line) || line ~ /^[^ ]+:[0-9]+:([0-9]+:)? warning:/ ||
                   line ~ /^[^ ]+\([0-9]+\): warning/ ||
                   line ~ /^[0-9]+ errors? (generated|detected)/ ||
                   line ~ /^(collect2|compilation terminated|Consider )/
        }
        is_error($0) { count++; mine[count] = 0 }
        is_boundary($0) && !is_error($0) { open = 0; next }
        is_error($0) { open = 1 }
        open {
            if (++length_of[count] <= limit) text[count] = text[count] $0 "\n"
            if (index($0, file)) mine[count] = 1
        }
        END {
            for (i = 1; i <= count; i++) if (mine[i]) { printf "%s", text[i]; exit }
            if (count) printf "%s", text[1]
        }'
}

# compile_error_count: how many errors the build log has.
compile_error_count() {
    build_log_text | grep -v ^collect2 |
        grep -c -E '(: |catastrophic )error(:| #)|undefined reference to'
}

# is_learners_error FILE ERROR_TEXT: does the error lie in the learner's file? A missing
# definition does too: the contract in chapter.h is theirs to implement.
is_learners_error() {
    [[ $2 == *"$1"* || $2 == *'undefined reference to'* ]]
}

# learners_warnings FILE: the warnings in the learner's file, first lines only.
learners_warnings() {
    build_log_text | grep -F "$1" | grep -E 'warning' | head -n 5
}
