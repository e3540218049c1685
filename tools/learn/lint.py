"""What nvcc refuses and a CPU lets pass. The simulator's rewriter refuses most of it:
host functions of the file called in a kernel, a kernel called without <<<...>>>, a
kernel that returns something. What only a compiler can see, clang's CUDA front end sees
where there is a clang, without any toolkit: member functions and variables of the host
used in a kernel, containers of the standard library; else nvcc is asked, if it is
there. And inline PTX in a chapter whose solution has none.

clang reads the simulator's headers, which were not written for it in this mode. So only
messages of one kind are believed, and only about what the learner's file or the C++
library declares; the others are its trouble, not the learner's.
"""

import os
import re
import shutil
from pathlib import Path

from learn import preset, steps, ui
from learn.course import Chapter

INCLUDES = ("-I", "common/include", "-I", "common/reference/include")
CLANG = (
    "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_80", "-nocudainc",
    "-nocudalib", "-fsyntax-only", "-std=c++20", "-w", "-ferror-limit=0",
    "-fno-color-diagnostics", "-D__CUDACC__=1", "-include", "tools/learn/lint.h")
OUR_HEADERS = re.compile(r"common/simt/\w+/include/")
MESSAGE = re.compile(r"(?P<file>[^:\s][^:]*):(?P<line>\d+):\d+: (?P<kind>error|note): ")


def errors(chapter: Chapter) -> str:
    """The errors in a chapter's file, as a compiler puts them; "" if there are none, or
    if they cannot be found here."""
    found = ptx_errors(Path(chapter.file), Path(chapter.solution))
    found += sides_errors(chapter.file, "-I", chapter.path)
    return "\n".join(found)


def ptx_errors(file: Path, solution: Path) -> list[str]:
    """A chapter that teaches no PTX is to run on every GPU, and here."""
    assembler = re.compile(r"\b(asm|__asm__)\b")
    if assembler.search(code_of(solution.read_text())):
        return []
    return [
        f"{file}:{number}: error: inline PTX in a portable chapter: its solution needs"
        " none, and PTX runs on NVIDIA's GPUs only"
        for number, line in enumerate(code_of(file.read_text()).split("\n"), 1)
        if assembler.search(line)]


def code_of(text: str) -> str:
    """C++ without comments and strings; its lines stay where they are."""
    pattern = r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/'
    return re.sub(pattern, lambda m: "\n" * m[0].count("\n"), text, flags=re.DOTALL)


def find_clang() -> str | None:
    """A clang++ that can read CUDA."""
    names = [os.environ.get("CXX", ""), "clang++"]
    names += [f"clang++-{version}" for version in range(21, 13, -1)]
    return next((n for n in names if "clang" in n and shutil.which(n)), None)


def sides_errors(file: str, *flags: str) -> list[str]:
    """What of the host is used in kernels."""
    if not (clang := find_clang()):
        return nvcc_errors(file, *flags)
    folders = [*sorted(Path("common/simt").glob("*/include")), "build/sim/include"]
    ours = [f"-isystem{folder}" for folder in folders]
    command = [clang, *CLANG, *flags, *INCLUDES, *ours]
    return believed(_output([*command, file]), file)


def nvcc_errors(file: str, *flags: str) -> list[str]:
    """The same where there is no clang but a CUDA toolkit. Its word is final."""
    if not (nvcc := preset.ask("find_nvcc")):
        return []
    command = [nvcc, "-std=c++20", "-arch=sm_80", "-w", "-ptx", "-o", "/dev/null"]
    output = _output([*command, *flags, *INCLUDES, file])
    found = re.findall(r"^([^(\n]*)\((\d+)\): error(?: #[\w-]+)?: (.*)$", output, re.M)
    first = {line: text for place, line, text in reversed(found) if place == file}
    return [f"{file}:{n}: error: {first[n]}" for n in sorted(first, key=int)]


def _output(command: list[str]) -> str:
    """Nothing is shown: it runs beside the tests."""
    return steps.run(command, ui.STATE / "log" / "lint.log").text


def believed(output: str, file: str) -> list[str]:
    """Those of clang's messages that are true, one a line of the file."""
    found: dict[int, str] = {}
    groups: list[list[re.Match]] = []
    for line in output.split("\n"):
        if match := MESSAGE.match(line):
            if match["kind"] == "error":
                groups.append([])
            if groups:
                groups[-1].append(match)
    for error, *notes in groups:
        if sentence := _sentence(error, notes, file):
            number, text = sentence
            found.setdefault(number, text)
    return [f"{file}:{n}: error: {text}" for n, text in found.items()]


def _sentence(error, notes, file: str) -> tuple[int, str] | None:
    """A line of the file and what is wrong in it, if the message is believed."""
    text = error.string
    name = text.partition("'")[2].partition("'")[0]
    if any(OUR_HEADERS.search(message["file"]) for message in (error, *notes)):
        return None
    needs_candidate = re.search("no matching (member )?function", text)
    if needs_candidate or "reference to __host__ function" in text:
        sentence = f'calling a __host__ function("{name}") in a kernel is not allowed'
    elif "reference to __host__ variable" in text:
        sentence = (
            f'the variable "{name}" lies in the memory of the host; a kernel can have'
            " it as an argument")
    else:
        return None
    # At a line of the file itself, or of something that the line calls.
    line, declared = (int(error["line"]), "") if error["file"] == file else (0, "")
    for note in notes:
        if "note: called by" in note.string and note["file"] == file and not line:
            line = int(note["line"])
        if needs_candidate:
            to_host = r"call to __host__ function from __(global|device)__"
            if note["file"] == file and re.search(to_host, note.string):
                declared = file
        elif "declared here" in note.string and _is_believable(note["file"], file):
            declared = note["file"]
    if not line or not declared:
        return None
    if declared != file:
        sentence = (
            f'a kernel cannot use this part of the C++ library: its function "{name}"'
            " runs on the host")
    return line, sentence


def _is_believable(path: str, file: str) -> bool:
    in_library = "/c++/" in path and not re.search("/(cmath|cstdlib|new)$", path)
    return path == file or in_library
