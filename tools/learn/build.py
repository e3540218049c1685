"""Configuring and building, with the log kept aside."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from learn import compile_errors, lock, preset, steps, ui

LOG = ui.STATE / "log" / "build.log"
# The checker sees through our wrappers of instructions: what they access belongs to the
# line that calls them.
THROUGH = {"SIMT_CHECK_THROUGH": "/include/wb/ptx/"}
FULL_DISK = 4 << 20  # with fewer bytes left, a disk counts as full
DISK_WORDS = re.compile("no space left on device|disk quota exceeded", re.IGNORECASE)


def folder() -> Path:
    return Path(preset.chosen().folder)


def prepare() -> None:
    """Everything up to a configured build folder. Cheap when that is done already."""
    preset.chosen()
    lock.take()
    if not is_configured():
        preset.set_up()
        configure()


def is_configured() -> bool:
    """By us, for this checkout, and since the presets and the list of chapters last
    changed (git pull). Else ninja itself runs CMake when a CMakeLists.txt changes."""
    stamp = folder() / "learn-configured"
    try:
        made = stamp.stat().st_mtime
        return (
            stamp.read_text() == str(ui.ROOT)
            and (folder() / "build.ninja").is_file()
            and all(
                os.path.getmtime(file) <= made
                for file in ("CMakePresets.json", "CMakeLists.txt")))
    except OSError:
        return False


def configure() -> None:
    name = preset.chosen().name
    ui.note(f"Configuring {folder()} ...")
    stamp = folder() / "learn-configured"
    stamp.unlink(missing_ok=True)
    fresh = ["--fresh"] if cache_is_stale() else []
    result = _cmake("--preset", name, *fresh)
    # A cache that was cut off in the middle, by a full disk for example.
    if result.status and not fresh and "Parse error in cache" in result.text:
        result = _cmake("--preset", name, "--fresh")
    if result.status == 0:
        try:
            stamp.write_text(str(ui.ROOT))
            return
        except OSError:
            pass
    if sentence := full_disk(result.text):
        raise ui.Stop(sentence)
    # CMake's errors, without the status lines around them.
    errors = re.findall(
        r"^CMake Error.*\n(?:(?!--|Preset CMake|CMake Error).*\n?)*", result.text, re.M)
    lines = "".join(errors).split("\n")[:12]
    ui.complain(ui.relative("\n".join(lines)), "dim")
    raise ui.Stop(
        f"CMake could not configure the '{name}' preset (the whole log: {LOG});"
        " ./learn doctor shows what is missing.")


def _cmake(*arguments: str) -> steps.Result:
    return steps.run(["cmake", *arguments], LOG, holds_lock=True)


def cached(name: str) -> str:
    """What CMake's cache holds under a name."""
    try:
        text = (folder() / "CMakeCache.txt").read_text(errors="replace")
    except OSError:
        return ""
    match = re.search(rf"^{name}:[A-Z]*=(.*)$", text, re.MULTILINE)
    return match[1] if match else ""


def cache_is_stale() -> bool:
    """Is there a cache that CMake would refuse: of another checkout (a copied or moved
    folder), of another generator, or of tools that are not there any more?"""
    if not (folder() / "CMakeCache.txt").is_file():
        return False
    tools = map(cached, ("CMAKE_COMMAND", "CMAKE_CXX_COMPILER", "CMAKE_MAKE_PROGRAM"))
    return (
        cached("CMAKE_HOME_DIRECTORY") != str(ui.ROOT)
        or cached("CMAKE_GENERATOR") != "Ninja"
        or any(tool and not shutil.which(tool) for tool in tools))


def full_disk(log: str = "") -> str:
    """One sentence if the last step failed because a disk is full; else "". The log may
    have been cut off by that itself."""
    full = ""
    for place in (str(ui.ROOT), os.environ.get("TMPDIR", "/tmp")):
        try:
            if shutil.disk_usage(place).free < FULL_DISK:
                full = full or place
        except OSError:
            pass
    if not full and DISK_WORDS.search(log):
        full = str(ui.ROOT)
    if not full:
        return ""
    return (
        f"The disk is full ({full}): free some space and run the same command again; it"
        " goes on where it stopped.")


def targets(*names: str, what: str = "", keep_going: bool = False) -> steps.Result:
    """Builds targets. `what` is what the learner knows them as."""
    result = _run(names, what or names[0], keep_going)
    # Files of CMake's that a full disk or a kill has cut off are made again.
    if re.search("^ninja: error: ([^ ]*[.]ninja:|loading )", result.text, re.M):
        configure()
        result = _run(names, what or names[0], keep_going)
    if re.search("^ninja: error: unknown target ", result.text, re.M):
        raise ui.Stop(
            f"This build has no {what or names[0]}: something that it needs was not"
            " found. ./learn doctor says what; with --cpu the simulator has it.")
    return result


def together(first: str, second: str, *, what: str) -> tuple[steps.Result, bool]:
    """Builds two programs of one file at the same time. The result is that of the
    first, without the second one's messages, which say the same; and whether the second
    is built, too."""
    result = targets(first, second, what=what, keep_going=True)
    text = without(second, result.text)
    if result.status and "\nFAILED: " not in text:
        return targets(first, what=what), False
    return result._replace(text=text), result.status == 0


def without(target: str, log: str) -> str:
    """ninja's log without the steps that make a target: the line "[3/4] Building ..."
    of each, and what follows it."""
    parts = re.split(r"^(?=\[\d+/\d+\] )", log, flags=re.MULTILINE)
    return "".join(part for part in parts if target not in part.partition("\n")[0])


def _run(names, what: str, keep_going: bool) -> steps.Result:
    command = ["cmake", "--build", str(folder()), "--target", *names]
    if keep_going:
        command += ["--", "-k", "0"]
    doing = f"building {what}," if what.startswith("the ") else "building"
    step = None
    if not ui.Settings.verbose:
        # Asked before the build begins, while there is something to do.
        plan = "" if ui.is_terminal() else _plan(names)
        step = steps.Step(doing, lambda: f"Building {what}{plan} ...")
    return steps.run(
        command, LOG, step, environment={"NINJA_STATUS": "[%f/%t] "}, holds_lock=True,
        echo=ui.Settings.verbose)


def _plan(names) -> str:
    """ " and the simulator (96 steps)", by a dry run of ninja's; it takes milliseconds.
    A dry run of build.ninja itself would stop at the step that updates build.ninja,
    hence the file that includes it."""
    file = folder() / "learn-plan.ninja"
    try:
        file.write_text("include build.ninja\n")
        plan = subprocess.run(
            [cached("CMAKE_MAKE_PROGRAM"), "-C", folder(), "-f", file.name, "-n",
             *names],
            capture_output=True, text=True).stdout
    except OSError:
        return ""
    number = len(re.findall(r"^\[", plan, re.MULTILINE))
    words = ""
    if "common/simt/CMakeFiles" in plan:
        words = " and the simulator"
    elif "common/simt/checker/" in plan:
        words = " and the simulator's checker"
    return f"{words} ({ui.count(number, 'step')})" if number else words


def must_build(*names: str, what: str) -> None:
    """Builds, or stops with the first error."""
    result = targets(*names, what=what)
    if result.status:
        ui.quote(compile_errors.in_words(result.text))
        raise ui.Stop(
            full_disk(result.text)
            or f"{what[0].upper()}{what[1:]} could not be built (the log: {LOG}).")


def has_target(name: str) -> bool:
    try:
        text = (folder() / "build.ninja").read_text(errors="replace")
    except OSError:
        return False
    return re.search(rf"^build {re.escape(name)}:", text, re.MULTILINE) is not None


def program(name: str) -> Path | None:
    """Where the build put a program."""
    path = folder() / name  # most of them; to look everywhere takes a while
    if path.is_file() and os.access(path, os.X_OK):
        return path
    for where, folders, files in os.walk(folder()):
        folders[:] = [f for f in folders if f not in ("CMakeFiles", "verdicts")]
        path = Path(where, name)
        if name in files and os.access(path, os.X_OK):
            return path
    return None


def must_have_program(name: str) -> Path:
    path = program(name)
    if not path:
        raise ui.Stop(f"The build made no program {name}.")
    return path


def jobs() -> int:
    """How many processes at a time."""
    return len(os.sched_getaffinity(0)) or 2
