"""The learner's own file put aside and replaced: for reset and solution --copy."""

import filecmp
import shutil
import time
from pathlib import Path

from learn import ui
from learn.course import Chapter

BACKUPS = ui.STATE / "backup"


def replace(chapter: Chapter, text: str) -> None:
    """Writes the learner's file, after saving what was there; it is not touched unless
    the copy succeeded."""
    file = Path(chapter.file)
    if file.exists():
        moment = time.strftime("%Y%m%d-%H%M%S")
        copy = BACKUPS / f"{chapter.day}-{chapter.name}-{moment}.cu"
        # Two backups within a second must not become one.
        while copy.exists():
            copy = copy.with_name(f"{copy.stem}x.cu")
        try:
            BACKUPS.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, copy)
            saved = filecmp.cmp(file, copy, shallow=False)
        except OSError:
            saved = False
        if not saved:
            raise ui.Stop(
                f"Your file could not be saved to {copy}, so nothing was changed.")
        ui.say(f"Your version is kept in {copy}")
    try:
        file.write_text(text)
    except OSError:
        raise ui.Stop(f"{file} could not be written.") from None


def holds(chapter: Chapter, text: str) -> bool:
    """Is this what the learner's file says already?"""
    try:
        return Path(chapter.file).read_text(errors="replace") == text
    except OSError:
        return False
