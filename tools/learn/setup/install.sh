# ./learn setup: installs what is missing, after asking. The only thing that ever runs as
# root is apt-get.
# shellcheck shell=bash

# How apt-get puts it that there is no network, or that it never had one.
APT_NO_NETWORK='resolve|failed to fetch|unable to (fetch|connect)|cannot initiate'
APT_NO_NETWORK+='|unable to locate package'

# set_up: makes sure that the tools are here; false, with one sentence, when they are not
# and could not be installed.
set_up() {
    local problem packages
    if problem=$(disk_problem); then
        fail "$problem"
        return
    fi
    mapfile -t packages < <(missing_packages)
    if ((${#packages[@]} > 0)); then
        install_packages "${packages[@]}" || return
        mapfile -t packages < <(missing_packages)
        if ((${#packages[@]} > 0)); then
            fail "Still missing after the installation: ${packages[*]}." \
                "./learn doctor says more."
            return
        fi
    fi
    if problem=$(version_problem); then fail "$problem"; fi
}

# install_packages PACKAGES: with apt-get, after asking.
install_packages() {
    local sudo=() by_hand="apt-get install $*"
    say "Warpbook needs these packages, which are not installed yet: $*"
    if ! command -v apt-get >/dev/null; then
        fail "This system has no apt-get (it is not Debian or Ubuntu), so install" \
            "their equivalents by hand: a C++20 compiler, CMake >= $MINIMUM_CMAKE," \
            "Ninja, Python >= $MINIMUM_PYTHON, Catch2, OpenBLAS, nlohmann-json."
        return
    fi
    if (($(id -u) != 0)); then
        if ! command -v sudo >/dev/null; then
            fail "Installing needs root, and there is no sudo here: ask an" \
                "administrator to run '$by_hand'."
            return
        fi
        sudo=(sudo)
        by_hand="sudo $by_hand"
        # Without a terminal nobody can type a password.
        if [[ ! -t 0 ]]; then sudo+=(-n); fi
    fi
    if ! confirm "Install them now with '$by_hand'?"; then
        fail "Nothing was installed. To go on, run '$by_hand', or ./learn setup --yes."
        return
    fi
    # In English, because its messages are looked through below.
    LC_ALL=C run_apt "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C -- \
        "$by_hand" "$@"
}

# run_apt PREFIX... -- BY_HAND PACKAGES...: PREFIX is sudo and env. Lists are refreshed
# first: a fresh container has none. If that fails, the installation is tried all the
# same, because the packages may be in apt's cache.
run_apt() {
    local prefix=() by_hand log=$PROGRESS_DIR/log/apt.log
    while [[ $1 != -- ]]; do
        prefix+=("$1")
        shift
    done
    by_hand=$2
    shift 2
    mkdir -p "${log%/*}" || return
    say "Refreshing the lists of packages ..."
    show_command "${prefix[@]}" apt-get update -q
    "${prefix[@]}" apt-get update -q >"$log" 2>&1
    say "Installing $(count_packages $#), and what they need (the log is $log) ..."
    show_command "${prefix[@]}" apt-get install -y -q --no-install-recommends "$@"
    if "${prefix[@]}" apt-get install -y -q --no-install-recommends "$@" 2>&1 |
        tee "$log" | apt_steps; then
        return 0
    fi
    if grep -q -i -E 'password is required|not in the sudoers|not allowed' "$log"; then
        fail "sudo was refused: run '$by_hand' yourself, or ask an administrator."
    elif grep -q -i -E "$APT_NO_NETWORK" "$log"; then
        fail "The package server could not be reached (no network?): connect, or" \
            "install by other means, then run ./learn again ('$by_hand')."
    elif grep -q -i -E 'no space left|enough free space' "$log"; then
        fail "The disk is full: free some space, then run ./learn again."
    else
        fail "apt-get failed: $(grep -m 1 '^E:' "$log" || tail -n 1 "$log")" \
            "(by hand: '$by_hand')."
    fi
}

count_packages() { if (($1 == 1)); then echo '1 package'; else echo "$1 packages"; fi; }

# apt_steps: reads apt-get's words and, on a terminal, counts: each package is unpacked,
# then set up.
apt_steps() {
    local line steps=0 total=0
    while IFS= read -r line; do
        if [[ $line =~ ([0-9]+)\ newly\ installed ]]; then
            total=$((2 * BASH_REMATCH[1]))
        elif [[ $line =~ ^(Unpacking|Setting\ up)\ ([^\ ]+) ]] && ((total > 0)); then
            steps=$((steps < total ? steps + 1 : total))
            if [[ -t 1 ]]; then
                printf '\r%-60.60s' "  installing $steps of $total: ${BASH_REMATCH[2]}"
            fi
        fi
    done
    if [[ -t 1 ]] && ((steps > 0)); then printf '\r%60s\r' ''; fi
}
