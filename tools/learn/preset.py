"""Which of CMakePresets.json's presets to work with, and what set-up knows.

That is decided by setup/*.sh, which must work before there is a Python; asked here."""

import functools
import os
import subprocess
from typing import NamedTuple

from learn import ui


class Preset(NamedTuple):
    name: str  # sim, cuda, or any other
    nvcc: str  # its path, or ""

    @property
    def folder(self) -> str:
        """The build folder."""
        return f"build/{self.name}"

    @property
    def on_gpu(self) -> bool:
        return self.name.startswith("cuda")

    @property
    def in_words(self) -> str:
        return "on the GPU" if self.on_gpu else "in the simulator"


@functools.cache
def chosen() -> Preset:
    """Raises Stop when --gpu was asked for in vain."""
    answer = _setup("preset", stdout=subprocess.PIPE)
    if answer.returncode:
        raise ui.Stop("")  # it has said why
    name, nvcc = answer.stdout.split("\n")[:2]
    preset = Preset(name, nvcc)
    if preset.on_gpu and nvcc:
        os.environ.setdefault("CUDACXX", nvcc)  # CMake looks for nvcc on PATH only
    return preset


def set_up() -> None:
    """Makes sure that the tools are here; asks before it installs any."""
    if _setup("set-up").returncode:
        raise ui.Stop("")


def install(*packages: str) -> bool:
    return _setup("install", *packages).returncode == 0


def ask(*words: str) -> str:
    """What a function of setup/requirements.sh or setup/preset.sh prints."""
    answer = _setup("ask", *words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return answer.stdout.strip()


def _setup(*words: str, **streams) -> subprocess.CompletedProcess:
    options = {
        "WB_VERBOSE": str(int(ui.Settings.verbose)),
        "WB_YES": str(int(ui.Settings.assume_yes)), "WB_DEVICE": ui.Settings.device,
        "WB_PLAIN": str(int(not ui.has_colour()))}
    if words[0] != "preset":
        options["PRESET"] = os.environ.get("WB_PRESET") or (
            chosen().name if words[0] == "set-up" else "sim")
    return subprocess.run(
        ["bash", "tools/learn/setup/main.sh", *words], env=os.environ | options,
        text=True, **streams)
