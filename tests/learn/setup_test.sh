#!/usr/bin/env bash
# Setting up: only what is missing is named and installed, nothing without being asked,
# and each thing that can go wrong gets one sentence. No package is really installed.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=fakes.sh
source "$(dirname "$0")/fakes.sh"
make_checkout

# Everything is here: nothing is asked, nothing installed.
fake_machine
learn_there setup
expect_status 0
expect 'Everything that Warpbook needs is here.'
expect_not_called apt-get
expect_not_called sudo

# Two things are missing and nobody can be asked: nothing happens, no hang.
rm "$FAKE/ninja"
touch "$FAKE/no-catch2"
learn_there setup
expect_status 2
expect 'not installed yet: catch2 ninja-build'
expect 'Nothing was installed.'
expect './learn setup --yes'
expect_not_called apt-get
learn_there
expect_status 2
expect 'Nothing was installed.'

# With --yes: as root through sudo only apt-get, with these packages only.
fake apt-get "[[ \$1 == install ]] && cd '$FAKE' && rm -f no-catch2 &&
    ln -s '$(command -v ninja)' ninja; true"
learn_there setup --yes
expect_status 0
expect_called 'sudo -n env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get install -y .*'\
'recommends catch2 ninja-build$'
check 'sudo runs nothing but apt-get' test "$(grep '^sudo' "$CALLS" | grep -vc apt-get)" -eq 0

# root needs no sudo.
fake_machine
rm "$FAKE/ninja"
fake id 'echo 0'
fake apt-get "ln -sf '$(command -v ninja)' '$FAKE/ninja'"
learn_there setup --yes
expect_status 0
expect_not_called sudo

# Neither root nor sudo.
fake_machine
rm "$FAKE/ninja" "$FAKE/sudo"
learn_there setup --yes
expect_status 2
expect "there is no sudo here: ask an administrator to run 'apt-get install ninja-build'"
expect_not_called apt-get

# sudo wants a password, and nobody can type one.
fake_machine
rm "$FAKE/ninja"
fake sudo 'echo "sudo: a password is required"; exit 1'
learn_there setup --yes
expect_status 2
expect "sudo was refused: run 'sudo apt-get install ninja-build' yourself"

# No network.
fake_machine
rm "$FAKE/ninja"
fake apt-get 'echo "E: Failed to fetch http://x  Temporary failure resolving"; exit 100'
learn_there setup --yes
expect_status 2
expect 'The package server could not be reached (no network?)'

# Any other failure is passed on in one line.
fake apt-get 'echo "E: Unmet dependencies."; exit 100'
learn_there setup --yes
expect_status 2
expect 'apt-get failed: E: Unmet dependencies.'

# It claims to have installed it, but it has not.
fake apt-get true
learn_there setup --yes
expect_status 2
expect 'Still missing after the installation: ninja-build.'

# Not Debian.
rm "$FAKE/apt-get"
learn_there setup --yes
expect_status 2
expect 'This system has no apt-get'

# No compiler at all.
fake_machine
rm "$FAKE/c++" "$FAKE/g++"
learn_there setup
expect_status 2
expect 'not installed yet: g++ catch2 libopenblas-dev nlohmann-json3-dev'
learn_there doctor
expect_status 1
expect 'no C++ compiler'
expect 'installs catch2, libopenblas-dev and nlohmann-json3-dev'

# The simulator's BLAS.
fake_machine
touch "$FAKE/no-blas"
learn_there setup
expect 'not installed yet: libopenblas-dev'

# No Python: the command itself needs it, doctor and setup do not.
fake_machine
rm "$FAKE/python3"
learn_there map
expect_status 2
expect 'not installed yet: python3'
expect 'Nothing was installed.'
learn_there doctor
expect_status 1
expect 'not found: ./learn setup installs python3'
python3=$(python3 -c 'import sys; print(sys.executable)')
fake apt-get "[[ \$1 == install ]] && ln -sf '$python3' '$FAKE/python3'; true"
learn_there map --yes
expect_status 0
expect_called 'apt-get install .* python3$'
expect '0 of 3 chapters passed'
rm "$FAKE/python3"
fake python3 'exit 1' # without its standard library
learn_there setup
expect_status 2
expect 'not installed yet: python3'
fake python3 'echo 3.9'
learn_there setup
expect_status 2
expect 'Python 3.9 is too old, Warpbook needs 3.11 or newer'

# Too old.
fake_machine
fake cmake 'echo "cmake version 3.22.1"'
learn_there setup --yes
expect_status 2
expect 'CMake 3.22.1 is too old, Warpbook needs 3.25 or newer'
expect_not_called apt-get
fake_machine
fake_compiler 9
learn_there
expect_status 2
expect 'is g++ 9, Warpbook needs g++ 12 or clang 14 or newer'

# No room, and no right to write.
fake_machine
fake df 'echo header; echo /dev/x 100 100 204800 50% /'
learn_there
expect_status 2
expect 'Only 200 MB of disk space are left'
learn_there doctor
expect_status 1
expect 'Only 200 MB'

# On a terminal it asks, and no means no.
if has_terminals; then
    fake_machine
    rm "$FAKE/ninja"
    OUTPUT=$(PATH=$FAKE CUDA_HOME=/nowhere "$(command -v script)" -qec './learn setup' \
        /dev/null <<<'n' 2>&1)
    expect "Install them now with 'sudo apt-get install ninja-build'? [Y/n]"
    expect 'Nothing was installed.'
    expect_not_called apt-get
fi
finish
