"""One ./learn at a time in a checkout: two builds in one folder break each other. The
lock is flock's, on .learn/lock; the kernel lifts it when the last process that holds it
ends, however it ends.

CMake and ninja inherit it, so that a build that was left behind by a killed ./learn is
waited for. Test programs do not: one that hangs must not keep the folder locked.
"""

import atexit
import fcntl
import os
import re
import time

from learn import ui

FILE = ui.STATE / "lock"
_file = None


def take() -> None:
    """Takes the lock, waiting for its turn.

    Where the file system has no locks, everything works as before. WB_LOCKED names the
    checkout that a calling ./learn has locked already.
    """
    global _file
    if _file or os.environ.get("WB_LOCKED") == str(ui.ROOT):
        return
    try:
        ui.STATE.mkdir(exist_ok=True)
        file = open(FILE, "a+")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say_who_holds_it(file)
            fcntl.flock(file, fcntl.LOCK_EX)
    except OSError:
        return
    _file = file
    os.environ["WB_LOCKED"] = str(ui.ROOT)
    command = ui.Settings.command_line
    holder = f"{command}, " if command else ""
    try:
        file.truncate(0)
        file.write(f"{holder}process {os.getpid()}, since {time.strftime('%H:%M')}\n")
        file.flush()
    except OSError:
        pass  # a full disk; nobody will know who holds it


def inherited() -> tuple[int, ...]:
    """File descriptors for processes that are to hold the lock, too."""
    return (_file.fileno(),) if _file else ()


@atexit.register
def release() -> None:
    """Also for processes that have inherited the lock and outlive this one, such as a
    compiler cache's server."""
    global _file
    if _file:
        fcntl.flock(_file, fcntl.LOCK_UN)
        _file.close()
        _file = None
        os.environ.pop("WB_LOCKED", None)


def _say_who_holds_it(file) -> None:
    file.seek(0)
    holder = file.readline().strip()
    process = re.search(r"process (\d+)", holder)
    if process and not os.path.isdir(f"/proc/{process[1]}"):
        ui.note(
            f"A build that another ./learn ({holder}) left behind is still at work in"
            " this folder; waiting for it ...")
    else:
        who = f" ({holder})" if holder else ""
        ui.note(f"Another ./learn{who} is at work in this folder; waiting for it ...")
