"""./learn dev check
./learn dev ladders
./learn dev new-chapter dayNN-day/NN-chapter
./learn dev mutate CHAPTER [--sample K] [--seed N] [--version vN] [--operator NAME]
                   [--jobs N] [--save] [--quick] [--part NAME]
./learn dev grades FILE.xml... [--csv]

For authors: is every chapter complete? Or writes the measured numbers into the index of
each ladder, at the head of its solution. Or makes all files of a new chapter, which
compiles and passes its tests; dev check then names what is left to write. Or makes
small mistakes in a solution by machine, and shows those that the tests do not notice;
--save keeps the score in book/data/mutation.json, --quick tries three again whose
killers that file names (docs/mutation.md). Or, for those who grade a class, makes a
table of what ctest --output-junit has written (docs/class.md).
"""

import re
import sys
from pathlib import Path

from learn import build, ctest, ladders, selftest, ui

TEMPLATE = Path("tools/learn/chapter")
PATH = re.compile(r"(day\d\d-[a-z0-9-]+/\d\d)-([a-z][a-z0-9-]*)")


def arguments(parser) -> None:
    parser.add_argument("what", nargs="*")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--version", default="")
    parser.add_argument("--operator", default="")
    parser.add_argument("--part", default="")
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--csv", action="store_true")


def run(options) -> int:
    match options.what:
        case ["check"]:
            return check()
        case ["ladders"]:
            return write_ladders()
        case ["new-chapter", path]:
            return new_chapter(path)
        case ["mutate", *chapters]:
            from learn import mutate

            return mutate.run(chapters, options)
        case ["grades", *files]:
            from learn import grades

            return grades.run(files, options.csv)
    raise ui.Stop("./learn dev knows ./learn dev check, ./learn dev ladders,"
                  " ./learn dev mutate CHAPTER, ./learn dev grades FILE.xml and"
                  " ./learn dev new-chapter dayNN-day/NN-chapter")


def check() -> int:
    build.prepare()
    log = ui.STATE / "log" / "dev.log"
    junit = build.folder().absolute() / "dev-junit.xml"
    arguments = ("-L", "^dev$", "-j", str(build.jobs()), "--output-on-failure")
    return selftest.summary(ctest.run(log, junit, *arguments), log)


def write_ladders() -> int:
    """Says which solutions it changed, and which it could not fill in."""
    wrong = 0
    for file in ladders.files():
        try:
            text = ladders.filled(file)
        except ladders.LadderError as error:
            ui.say(f"{file}: {error}")
            wrong = 1
            continue
        if text != file.read_text():
            file.write_text(text)
            ui.say(f"{file}: written")
    return wrong


def new_chapter(path: str) -> int:
    """Writes the chapter's files from the template, and its line in CMakeLists.txt."""
    if not (parts := PATH.fullmatch(path)):
        raise ui.Stop(f"{path} is not of the form day02-memory/03-transpose")
    if Path(path).exists():
        raise ui.Stop(f"{path} is there already")
    words = {
        "dayNN-day/NN-chapter": path, "chapter_name": parts[2].replace("-", "_"),
        "Chapter title": parts[2].replace("-", " ").capitalize()}
    written = []
    for source in sorted(TEMPLATE.rglob("*")):
        if source.is_file():
            target = _place(source.relative_to(TEMPLATE), path, words)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(_filled(source.read_text(), words))
            written.append(target)
    written.append(_write_starter(path, words["chapter_name"]))
    _declare(path)
    for file in written:
        ui.say(str(file))
    ui.say("./learn dev check says what is left to write;"
           f" ./learn test {path} tests it.")
    return 0


def _place(file: Path, path: str, words: dict[str, str]) -> Path:
    """Where a file of the template belongs: contract, lesson and hints to the chapter,
    its .cu to the solutions, all else to the tests."""
    name = Path(_filled(str(file), words))
    if len(name.parts) == 1 and name.suffix in (".h", ".md"):
        return Path(path) / name
    return Path("solutions" if str(name).endswith(f"{words['chapter_name']}.cu")
                else "tests", path) / name


def _filled(text: str, words: dict[str, str]) -> str:
    for word, meaning in words.items():
        text = text.replace(word, meaning)
    return text


def _write_starter(path: str, name: str) -> Path:
    sys.path.insert(0, "tools")
    import markers

    starter = Path(path, f"{name}.cu")
    solution = Path("solutions", starter)
    starter.write_text(markers.starter_of(solution.read_text()))
    return starter


def _declare(path: str) -> None:
    """Adds the line wb_chapter(PATH), in the order of the course."""
    file = Path("CMakeLists.txt")
    lines = file.read_text().split("\n")
    others = [(match[1], number) for number, line in enumerate(lines)
              if (match := re.match(r"wb_chapter\(([^ )]+)", line))]
    at = next((number for other, number in others if other > path), None)
    if at is None:  # behind the last one, which may take several lines
        at = others[-1][1]
        while not lines[at].endswith(")"):
            at += 1
        at += 1
    lines.insert(at, f"wb_chapter({path})")
    file.write_text("\n".join(lines))
