"""./learn dev check

For authors: is every chapter complete?
"""

from learn import build, ctest, selftest, ui


def arguments(parser) -> None:
    parser.add_argument("what", nargs="*")


def run(options) -> int:
    if options.what != ["check"]:
        raise ui.Stop("./learn dev knows one thing: ./learn dev check")
    build.prepare()
    log = ui.STATE / "log" / "dev.log"
    junit = build.folder().absolute() / "dev-junit.xml"
    arguments = ("-L", "^dev$", "-j", str(build.jobs()), "--output-on-failure")
    return selftest.summary(ctest.run(log, junit, *arguments), log)
