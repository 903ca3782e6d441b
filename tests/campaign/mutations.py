"""The mutants of a Python source: the same source with one change each."""

import ast
import copy
from collections.abc import Iterator
from typing import NamedTuple

COMPARED = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
            ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is}
COMPUTED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
            ast.Mod: ast.Add, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd,
            ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.And: ast.Or, ast.Or: ast.And}
CALLED = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum"}
LOGGERS = {"logger", "logging"}


class Mutant(NamedTuple):
    """A mutant: its source, the number of the line that is changed, and that line before and after, normalized."""

    source: str
    line: int
    before: str
    after: str


def mutants_of(source: str) -> Iterator[Mutant]:
    """All mutants of a source, in its order. The text of errors and log messages, annotations and docstrings stay."""
    tree = ast.parse(source)
    plain = ast.unparse(tree).splitlines()
    seen = set()
    for node, field, index, change in list(_changes(tree)):
        value = getattr(node, field)
        setattr(node, field, change if index is None else [*value[:index], change, *value[index + 1:]])
        mutated = ast.unparse(ast.fix_missing_locations(tree))
        setattr(node, field, value)
        lines = mutated.splitlines()
        at = next((i for i, (a, b) in enumerate(zip(plain, lines)) if a != b), None)
        if at is not None and mutated not in seen:
            seen.add(mutated)
            place = value if index is None else value[index]
            yield Mutant(mutated, getattr(place, "lineno", getattr(node, "lineno", 0)), plain[at].strip(),
                         lines[at].strip())


def _changes(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST | None]]:
    """(node, field, index in the field, other value) of all changes of a node and of those below it."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list") or _is_public_list(node):
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(child, ast.AST) or _is_docstring(node, field, index, child):
                continue
            yield from ((node, field, index, other) for other in _others(child))
            if isinstance(node, ast.Slice):
                yield node, field, index, None
            if not isinstance(child, ast.Raise) and not _is_log(child):
                yield from _changes(child)


def _others(node: ast.AST) -> Iterator[ast.AST]:
    """What can stand in place of a node."""
    match node:
        case ast.Raise() | ast.Expr(value=ast.Call()):
            yield ast.Pass()
        case ast.Continue():
            yield ast.Break()
        case ast.Break():
            yield ast.Continue()
        case ast.operator() | ast.boolop() if type(node) in COMPUTED:
            yield COMPUTED[type(node)]()
        case ast.cmpop():
            yield COMPARED[type(node)]()
        case ast.UnaryOp():
            yield node.operand
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int() | float()):
            yield ast.Constant(node.value + 1)
        case ast.Constant(value=str()):
            yield ast.Constant("XX" + node.value)
        case ast.Constant(value=bytes()):
            yield ast.Constant(b"XX" + node.value)
        case ast.Name(id=name) if name in CALLED:
            yield ast.Name(CALLED[name], node.ctx)
        case ast.Attribute(attr=name) if name in CALLED:
            yield ast.Attribute(node.value, CALLED[name], node.ctx)
        case ast.If() | ast.IfExp() | ast.While() if isinstance(node.test, (ast.Name, ast.Attribute, ast.Call)):
            other = copy.copy(node)
            other.test = ast.UnaryOp(ast.Not(), node.test)
            yield other
        case ast.comprehension() if node.ifs:
            other = copy.copy(node)
            other.ifs = []
            yield other


def _is_docstring(node: ast.AST, field: str, index: int | None, child: ast.AST) -> bool:
    return field == "body" and index == 0 and isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)


def _is_public_list(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__"


def _is_log(node: ast.AST) -> bool:
    """Whether a statement is a call of a logger, as logger.info(…)."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))):
            return name in LOGGERS
    return False
