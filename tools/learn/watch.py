"""./learn watch [CHAPTER] [--fast]

Grades again on every save, and moves on when it passes. Ctrl-C stops.
--fast: the second stage.
"""

import os
import shutil
import signal
import subprocess
import time

from learn import build, check, course, lock, selection, ui

POLL_SECONDS = 0.5


def arguments(parser) -> None:
    parser.add_argument("chapters", nargs="*")
    selection.add_fast(parser)


def run(options) -> int:
    chapter = selection.single(options.chapters, options.fast)
    build.prepare()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        while True:
            _clear()
            # Before grading: a save meanwhile must not be missed.
            before = _state(chapter.file)
            lock.take()
            if check.check_one(chapter) == 0:
                chapter = course.first_unpassed(course.load())
                if options.chapters or not chapter:
                    return 0
            lock.release()
            ui.say()
            ui.note(f"Watching {chapter.file}; save it to grade again, Ctrl-C to stop.")
            _wait_for_change(chapter.file, before)
    except KeyboardInterrupt:  # Ctrl-C is how one leaves: say so and end well
        ui.say("\nStopped watching.")
        return 0


def _clear() -> None:
    """A clean screen for each grade, but only where there is a screen."""
    if ui.is_terminal() and os.environ.get("TERM", "dumb") != "dumb":
        print("\x1b[H\x1b[2J", end="", flush=True)


def _wait_for_change(file: str, before) -> None:
    """Returns when the file is no longer in the state `before`.

    The folder is watched, not the file: many editors save by writing a new file and
    renaming it. The state decides, because other files live in that folder.
    """
    watcher = shutil.which("inotifywait")
    while _state(file) == before:
        if watcher:
            # The time limit covers a save between the comparison and the call.
            events = "close_write,moved_to,create"
            folder = os.path.dirname(file)
            subprocess.run([watcher, "-q", "-q", "-t", "2", "-e", events, folder])
        else:
            time.sleep(POLL_SECONDS)


def _state(file: str):
    try:
        status = os.stat(file)
        return status.st_mtime_ns, status.st_size, status.st_ino
    except OSError:
        return None
