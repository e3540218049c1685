# Machines that the tests of ./learn pretend to be: a PATH that holds only what is put
# there, with impostors of apt-get, sudo, nvcc, nvidia-smi and so on that note in
# $CHECKOUT/calls how they were called.
# shellcheck shell=bash

FAKE=$CHECKOUT/fake-bin
CALLS=$CHECKOUT/calls

# fake_machine: a machine with every tool that is needed and nothing else.
fake_machine() {
    local tool
    rm -rf "$FAKE" "$CALLS"
    mkdir -p "$FAKE"
    touch "$CALLS"
    for tool in bash awk sed grep head tail cut paste sort tr wc cat tee mkdir mv cp cmp \
        rm ln touch df stat realpath readlink dirname basename env timeout nproc date find \
        id uname sleep cksum diff sh cmake ctest ninja as ld xargs; do
        if command -v "$tool" >/dev/null; then
            ln -s "$(command -v "$tool")" "$FAKE/$tool"
        fi
    done
    ln -s "$(python3 -c 'import sys; print(sys.executable)')" "$FAKE/python3"
    fake_compiler 12
    ln -s "$FAKE/c++" "$FAKE/g++"
    # A learner is not root, whoever runs this test.
    fake id 'echo 1000'
    # shellcheck disable=SC2016 # expands in the impostor
    fake sudo 'while [[ $1 == -* ]]; do shift; done; exec "$@"'
    fake apt-get 'true'
}

# fake NAME SCRIPT: an impostor; it notes its call first.
fake() {
    rm -f "$FAKE/$1"
    printf '#!/bin/bash\necho "%s $*" >>"%s"\n%s\n' "$1" "$CALLS" "$2" >"$FAKE/$1"
    chmod +x "$FAKE/$1"
}

# fake_compiler MAJOR: g++ of that version. It has Catch2 and a BLAS unless the files
# $FAKE/no-catch2 and $FAKE/no-blas say otherwise.
fake_compiler() {
    rm -f "$FAKE/c++"
    cat >"$FAKE/c++" <<SCRIPT
#!/bin/bash
if [[ \$* == *-dM* ]]; then echo '#define __GNUC__ $1'; exit; fi
if [[ \$1 != -E ]]; then exec "$(command -v c++)" "\$@"; fi
source=\$(cat)
[[ -e "$FAKE/no-catch2" && \$source == *catch2* ]] && exit 1
[[ -e "$FAKE/no-blas" && \$source == *cblas* ]] && exit 1
exit 0
SCRIPT
    chmod +x "$FAKE/c++"
}

# learn_there ARGS: ./learn on the pretended machine, which has no GPU unless faked.
# shellcheck disable=SC2034 # OUTPUT and STATUS are what lib.sh looks at
learn_there() {
    OUTPUT=$(PATH=$FAKE WB_PYTHON=python3 CUDA_HOME=$FAKE/cuda ./learn "$@" 2>&1 </dev/null)
    STATUS=$?
}

# expect_called TEXT / expect_not_called TEXT: by the notes of the impostors.
expect_called() {
    if ! grep -q -e "$1" "$CALLS"; then complain "'$1' was not called: $(<"$CALLS")"; fi
}

expect_not_called() {
    if grep -q -e "$1" "$CALLS"; then complain "'$1' was called: $(<"$CALLS")"; fi
}
