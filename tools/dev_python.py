"""dev_python.py FILE...: what a compiler would say of Python: a syntax error, a name
that is imported and not used, a name that nothing defines. Standard library only."""

import ast
import builtins
import sys

KNOWN = set(dir(builtins)) | {"__file__", "__name__", "__doc__"}


def names_of(tree: ast.AST) -> tuple[set, set, dict]:
    """Names that are read; that are bound anywhere in the file; imports by line."""
    read, bound, imports = set(), set(), {}
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                read.add(name)
            case ast.Name(id=name) | ast.arg(arg=name):
                bound.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                bound.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                bound.add(name)
            case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                bound.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                for alias in names:
                    name = (alias.asname or alias.name).split(".")[0]
                    imports[name] = node.lineno
    return read, bound, imports


def problems(path: str):
    """Pairs of a line and what is wrong there."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        tree = ast.parse(text, path)
    except SyntaxError as error:
        yield error.lineno, f"is no Python: {error.msg}"
        return
    read, bound, imports = names_of(tree)
    # A name in quotes may be a type, or be exported.
    quoted = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)
              and isinstance(n.value, str)}
    for name, line in imports.items():
        if name not in read and name not in quoted:
            yield line, f"imports {name} and does not use it"
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in read:
            if node.id not in bound | KNOWN and node.id not in imports:
                yield node.lineno, f"{node.id} is not defined"


if __name__ == "__main__":
    for path in sys.argv[1:]:
        for line, what in sorted(problems(path)):
            print(f"{path}:{line}: {what}")
