# What works before there is a Python: setup, doctor, and the choice between the GPU and
# the simulator, which depends on what is installed.
#
#     main.sh preset            prints the preset and the path of nvcc (may be empty)
#     main.sh set-up            installs what is missing, after asking
#     main.sh install PACKAGES
#     main.sh ask FUNCTION ...  what a function of requirements.sh or preset.sh prints
#
# The command in Python runs it so; ./learn itself sources it. Options come as variables:
# WB_VERBOSE, WB_YES, WB_DEVICE, WB_PLAIN; PRESET, where it is known.
# shellcheck shell=bash

VERBOSE=${WB_VERBOSE:-0}     # -v: print the commands behind
ASSUME_YES=${WB_YES:-0}      # --yes: do not ask
DEVICE=${WB_DEVICE:-auto}    # gpu, cpu: chosen by hand
PRESET=${PRESET:-}
BUILD_DIR=build/$PRESET
PROGRESS_DIR=.learn

# shellcheck source=tools/learn/setup/ui.sh
source tools/learn/setup/ui.sh
# shellcheck source=tools/learn/setup/preset.sh
source tools/learn/setup/preset.sh
# shellcheck source=tools/learn/setup/requirements.sh
source tools/learn/setup/requirements.sh
# shellcheck source=tools/learn/setup/install.sh
source tools/learn/setup/install.sh
# shellcheck source=tools/learn/setup/doctor.sh
source tools/learn/setup/doctor.sh

# setup_main COMMAND ARGS: as ./learn. Any other command than setup and doctor comes here
# only because there is no Python.
setup_main() {
    local command=$1 word plain=0
    shift
    for word in "$@"; do
        case $word in
            -v | --verbose) VERBOSE=1 ;;
            -y | --yes) ASSUME_YES=1 ;;
            --gpu | --cpu) DEVICE=${word#--} ;;
            --no-color | --no-colour) plain=1 ;;
            *)
                if [[ $command == setup && $word != setup ]]; then
                    fail "./learn setup takes no argument but --yes."
                    return
                fi
                ;;
        esac
    done
    ui_init "$plain"
    case $command in
        doctor) doctor ;;
        setup)
            choose_preset && set_up || return
            say "Everything that Warpbook needs is here. Next: ./learn"
            ;;
        *) choose_preset && set_up ;;
    esac
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
    set -u -o pipefail
    ROOT=$PWD
    ui_init "${WB_PLAIN:-0}"
    case ${1:-} in
        preset) choose_preset && printf '%s\n' "$PRESET" "$(find_nvcc)" ;;
        set-up) set_up ;;
        install) install_packages "${@:2}" ;;
        ask) "${@:2}" ;;
    esac
fi
