"""The mutants of a text: one operator or constant changed, everything else as it was. What a C loop counts by stays."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

SWAPS = {
    "<": ("<=", ">"), "<=": ("<", ">="), ">": (">=", "<"), ">=": (">", "<="), "==": ("!=",), "!=": ("==",),
    "&&": ("||",), "||": ("&&",), "and": ("or",), "or": ("and",), "+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",),
    "+=": ("-=",), "-=": ("+=",), "|=": ("&=",), "++": ("--",),
}  # fmt: skip
C_TOKEN = re.compile(
    r"""
    (?P<skip>/\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' | \{\#.*?\#\} | \{%.*?%\} | \{\{.*?\}\}
        | \#\s*(?:include|if|ifdef|ifndef|error|endif|else|undef)[^\n]* | -> | \bfor\s*\((?:(?!&&)[^\n])*\)\s*\{(?!\{)
        | \bfor\s*\(\s*int\s+\w+\s*=\s*\d+; | \(\w+\s<\s\w+\)(?=[^\n]*\+\+\w+\)\s*\{) | &&(?=[^\n;]*;\s*\+\+\w+\)\s*\{)
        | ;\s*\+\+\w+\)\s*\{
        | \*\s*const\b | \w+_t\s*\*+ | \(\s*void\s*\) | \breal\b)
  | (?P<number>(?<![\w.])(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?[uUfFlL]*(?![\w.]))
  | (?P<operator>\+\+|--|\+=|-=|\|=|&&|\|\||<=|>=|==|!=|<<|>>|<|>|\+|-|\*|/)
  | (?P<word>[A-Za-z_]\w*)
    """,
    re.X | re.S,
)
KEYWORDS = ("return", "in", "and", "or", "not", "if", "else")  # before a sign
NO_OPERATOR = re.compile(r"[\w)\]}]\s*$")  # what stands before a binary operator
CAST = re.compile(r"\(\s*(?:\{\{[^}]*\}\}|\w+_t)\s*\)\s*$")


@dataclass(frozen=True)
class Mutant:
    """A text with one change: where, from what to what."""

    line: int
    column: int
    before: str
    after: str
    text: str

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.before} -> {self.after}"


def mutants_of(path: str, text: str) -> Iterator[Mutant]:
    """All mutants of a Python module, a C file or a template of one."""
    places = _python_places(text) if path.endswith(".py") else _c_places(text)
    for start, before, after in places:
        line = text.count("\n", 0, start) + 1
        column = start - (text.rfind("\n", 0, start) + 1) + 1
        yield Mutant(line, column, before, after, text[:start] + after + text[start + len(before) :])


def _c_places(text: str) -> Iterator[tuple[int, str, str]]:
    for match in C_TOKEN.finditer(text):
        start, token = match.start(), match.group()
        if match.lastgroup == "number":
            yield from ((start, token, other) for other in _numbers(token))
        elif match.lastgroup == "operator" and token in SWAPS:
            before = text[:start]
            is_binary = NO_OPERATOR.search(before) is not None and CAST.search(before) is None
            if token == "-" and not is_binary:
                yield start, token, ""  # a sign
            elif token == "++" or (is_binary and not (token == "*" and _declares(before))):
                yield from ((start, token, other) for other in SWAPS[token])


def _declares(before: str) -> bool:
    """Whether a name before a star is a type."""
    return re.search(r"(?:_t|\}\}|\b(?:const|int|char|void|double|float)|fmi\d\w+)\s*$", before) is not None


def _numbers(token: str) -> Iterator[str]:
    """Another constant: twice it, or 1 for 0."""
    digits = re.match(r"[\d.eE+-]+", token)
    if digits is None:
        return
    value, suffix = digits.group(), token[digits.end() :]
    if re.fullmatch(r"\d+", value):
        yield f"{2 * int(value) if int(value) else 1}{suffix}"
    else:
        yield f"{2.0 * float(value) or 1.0!r}{suffix}"


def _python_places(text: str) -> Iterator[tuple[int, str, str]]:
    lines = [0]
    for line in text.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    previous = ""
    depth_of_annotation = False
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        start = lines[token.start[0] - 1] + token.start[1]
        word = token.string
        if token.type == tokenize.OP and word == "->":
            depth_of_annotation = True
        elif word == ":" or token.type == tokenize.NEWLINE:
            depth_of_annotation = False
        if token.type in (tokenize.OP, tokenize.NAME) and word in SWAPS and not depth_of_annotation:
            is_binary = bool(re.match(r"[\w)\]}.\"']", previous[-1:])) and previous not in KEYWORDS
            if word in ("-", "+") and not is_binary:
                if word == "-":
                    yield start, word, ""
            elif word == "*" and not is_binary:
                pass  # unpacking
            elif not (word == "/" and previous == ","):
                yield from ((start, word, other) for other in SWAPS[word])
        elif token.type == tokenize.NUMBER and re.fullmatch(r"[\d.eE+-]+", word):
            yield from ((start, word, other) for other in _numbers(word))
        if token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT):
            previous = word if word.strip() else previous
