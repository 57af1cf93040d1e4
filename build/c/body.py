"""Prints a straight-line program as the body of a C function, in several parts if it is long."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from elastogen.build.c.dialect import Dialect, array_parameter
from elastogen.build.c.expression import Expressions, literal
from elastogen.build.c.late_reads import late_reads
from elastogen.build.c.legend import legend
from elastogen.build.c.lines import INDENT, wrapped
from elastogen.build.c.names import LocalNames, comment_text
from elastogen.build.c.schedule import Define, LoopCall, SineCosine, Statement, Store, StoreZeros, reads, schedule
from elastogen.build.c.split import LONGEST_WHOLE_BODY, choose_cuts
from elastogen.generator.program.graph import Op
from elastogen.generator.program.names import UNNAMED
from elastogen.generator.program.program import Program
from elastogen.generator.robot.errors import BuildError
from elastogen.generator.sliding.elements_inside import INDICATORS
from elastogen.runtime.interface.argument import Argument

OWN_NAMES = frozenset(("p", "k", "w", "i", "status", INDICATORS))


@dataclass(frozen=True)
class Part:
    """A static function with a part of a long body."""

    name: str
    comment: str
    parameters: tuple[str, ...]
    lines: tuple[str, ...]
    arguments: tuple[str, ...] = ()  # of the call
    lanes: int = 0  # of the vectors that it computes with, if any


@dataclass(frozen=True)
class FunctionBody:
    """The printed body of one function, and the text that must precede it."""

    lines: tuple[str, ...]
    parts: tuple[Part, ...] = ()
    work_type: str = ""  # of the struct whose fields travel between the parts; "" where there is none
    work_fields: tuple[str, ...] = ()  # lines
    calls_sincos: bool = False
    legend: tuple[str, ...] = ()  # what the names mean: lines of a comment


@dataclass(frozen=True)
class Loops:
    """Loops over columns that a straight-line program calls; its last output is what they start from."""

    arrays: tuple[Argument, ...] = ()  # of the function's own, through which it passes values to and from the loops
    declarations: tuple[str, ...] = ()  # of these: lines
    calls: tuple[LoopCall, ...] = ()
    texts: tuple[str, ...] = ()  # of the calls
    places: Mapping[int, str] = field(default_factory=dict)  # in the arrays, of the inputs that stand for what loops make
    parts: tuple[Part, ...] = ()
    arguments: tuple[tuple[str, ...], ...] = ()  # of the calls
    lines: tuple[str, ...] = ()  # after the straight-line program: results of the loops into the outputs
    kept: frozenset[int] = frozenset()  # nodes that are variables, since loops read them


NO_LOOPS = Loops()


class Printer:
    """Prints one straight-line program as the body of a function; ``live`` are the names of the live parameters."""

    in_derived_order = False  # see schedule.py
    taken: frozenset[str] = frozenset()  # names that no variable may have, beside those of all functions

    def __init__(self, program: Program, symbol: str, dialect: Dialect, live: frozenset[str], loops: Loops = NO_LOOPS) -> None:
        self.program, self.graph, self.symbol, self.dialect, self.loops = program, program.graph, symbol, dialect, loops
        self.outputs = [argument for argument, _ in program.outputs][: -1 if loops.calls else None]
        self.expressions = Expressions(program, dialect.real, dialect.sincos == "fast", loops.kept)
        self.statements = schedule(program, self.expressions, loops.calls, loops.places, self.in_derived_order)
        self.reads = [reads(statement, self.expressions) for statement in self.statements]
        self.leaf_text, self.argument_of = self._leaves(live)
        self.variable = self._names()
        self.place: dict[int, tuple[str, str, int]] = {}  # of sines and cosines: array, number of the call, index
        self.read: set[int] = set()  # those that have their variable
        self.late: Mapping[int, Sequence[int]] | None = None  # what is read before each statement, see late_reads.py
        self.slots: Mapping[int, int] = {}  # places of values that travel between parts, where they share memory
        self.zero = literal(0.0, dialect.real)

    # ---- names

    def _leaves(self, live: frozenset[str]) -> tuple[dict[int, str], dict[int, str]]:
        """Return the C text of each input and constant, and the argument that each input belongs to ("p" for parameters)."""
        argument_of_label = {
            argument.element(index): argument.name for argument in self.program.inputs for index in range(argument.size)
        }
        text: dict[int, str] = {}
        argument_of: dict[int, str] = {}
        for node in self.program.order:
            label = self.graph.label[node]
            if self.graph.op[node] is Op.CONSTANT:
                text[node] = literal(self.graph.number[node], self.dialect.real)
            elif self.graph.op[node] is not Op.INPUT:
                continue
            elif node in self.loops.places:
                text[node] = self.loops.places[node]
                argument_of[node] = text[node].partition("[")[0]
            elif label in argument_of_label:
                text[node], argument_of[node] = label, argument_of_label[label]
            elif label in live:
                text[node], argument_of[node] = f"p->{label}", "p"
            else:
                raise BuildError(f"{self.symbol}: the value {label!r} is neither an argument nor a live parameter.")
        return text, argument_of

    def _names(self) -> dict[int, str]:
        arguments = {a.name for a in (*self.program.inputs, *self.outputs, *self.loops.arrays)}
        levels = sum(isinstance(statement, SineCosine) for statement in self.statements)
        stems = ("angle", "sine", "cosine", *(f"{array}_{use}" for array in ("sine", "cosine") for use in ("place", "again")))
        arrays = {f"{array}{level}" for array in stems for level in ["", *range(1, levels + 1)]}
        self.names = names = LocalNames(set(OWN_NAMES) | self.taken | arguments | arrays)
        variable: dict[int, str] = {}
        for statement in self.statements:
            for node in statement.nodes:
                given = self.graph.label[node]
                label = given if given and not given.startswith(UNNAMED) else self._angle_label(node)
                variable[node] = names.named(label) if label else names.temporary()
        return variable

    def _angle_label(self, node: int) -> str:
        """Return a name for the sine or cosine of a plain input: sin_q3."""
        op, angle = self.graph.op[node], self.graph.a[node] >> 1
        if op not in (Op.SIN, Op.COS) or self.graph.op[angle] is not Op.INPUT:
            return ""
        return f"{op.name.lower()}_{self.graph.label[angle].replace('[', '').replace(']', '')}"

    # ---- the whole

    def run(self) -> FunctionBody:
        """Return the body, in several parts if it is long."""
        if max(len(self.statements), len(self.variable)) <= LONGEST_WHOLE_BODY:
            return self._whole()
        return self._split()

    def _calls_sincos(self) -> bool:
        return any(isinstance(statement, SineCosine) for statement in self.statements)

    def _whole(self) -> FunctionBody:
        if self.program.outward:
            calls = [statement for statement in self.statements if isinstance(statement, SineCosine)]
            self.late = late_reads(self.reads, {node for call in calls for node in call.nodes})
        used = self._arguments_used(range(len(self.statements)), self.program.pivots)
        lines = [f"{INDENT}(void){name};" for name in ("p", *(a.name for a in self.program.inputs)) if name not in used]
        lines = [*self.loops.declarations, *lines, *self.print_statements(range(len(self.statements)), self._plain_text)]
        lines += [*self.loops.lines, *self._check(self._plain_text)]
        return FunctionBody(tuple(lines), self.loops.parts, calls_sincos=self._calls_sincos(), legend=self._legend())

    def _legend(self) -> tuple[str, ...]:
        return legend(self.graph.label[node] for node in self.variable)

    def _plain_text(self, node: int) -> str:
        return self.leaf_text.get(node) or self.variable[node]

    def _split(self) -> FunctionBody:
        defines = [statement.nodes for statement in self.statements]
        cuts = choose_cuts(defines, self.reads, [ref >> 1 for ref in self.program.pivots])
        self.slots = cuts.slots
        work_type = f"{self.symbol}_work_t"
        parts, calls, used = list(self.loops.parts), list[str](), set(self._arguments_used((), self.program.pivots))
        total = len(cuts.bounds) - 1
        for number in range(1, total + 1):
            part, arguments = self._part(number, total, range(*cuts.bounds[number - 1 : number + 1]), cuts.travelling)
            parts.append(part)
            used.update(arguments)
            call = ", ".join("&w" if name == "w" else name for name in arguments)
            calls.extend(wrapped(f"{part.name}({call});"))
        fields = [self.variable[node] for values in defines for node in values if node in cuts.travelling]
        if self.slots:
            fields = [f"slot[{max(self.slots.values()) + 1}]"]
        lines = [*self.loops.declarations, *([f"{INDENT}{work_type} w;"] if fields else [])]
        lines += [f"{INDENT}(void){name};" for name in ("p", *(a.name for a in self.program.inputs)) if name not in used]
        lines += [*calls, *self.loops.lines]
        lines += self._check(lambda node: self.leaf_text.get(node) or f"w.{self._field(node)}")
        declaration = wrapped(f"{self.dialect.real_type} {', '.join(fields)};") if fields else []
        work_type = work_type if fields else ""
        return FunctionBody(tuple(lines), tuple(parts), work_type, tuple(declaration), self._calls_sincos(), self._legend())

    def _field(self, node: int) -> str:
        """Return where a value passes from part to part: under its own name, or in memory that it shares with others."""
        return f"slot[{self.slots[node]}]" if self.slots else self.variable[node]

    def _part(self, number: int, total: int, indices: range, travelling: frozenset[int]) -> tuple[Part, tuple[str, ...]]:
        own = {node for index in indices for node in self.statements[index].nodes}
        times_read = Counter(node for index in indices for node in self.reads[index])
        loaded = [node for node in times_read if node in self.variable and node not in own]
        shared = {node for node in loaded if times_read[node] > 1 or self.slots}  # whatever has lost its name gets it back

        def text(node: int) -> str:
            if node in self.leaf_text:
                return self.leaf_text[node]
            return self.variable[node] if node in own or node in shared else f"w->{self._field(node)}"

        loads = {node: self._declare(node, f"w->{self._field(node)}") for node in sorted(shared)}
        lines = self.print_statements(indices, text, travelling, loads)
        writes = not own.isdisjoint(travelling)
        used = self._arguments_used(indices)
        arguments: list[str] = []
        parameters: list[str] = []
        if "p" in used:
            arguments.append("p")
            parameters.append(f"const {self.dialect.params_type} *p")
        for argument in self.program.inputs:
            if argument.name in used:
                arguments.append(argument.name)
                parameters.append(f"const {array_parameter(argument, self.dialect)}")
        if writes or loaded:
            arguments.append("w")
            parameters.append(f"{'' if writes else 'const '}{self.symbol}_work_t *w")
        for argument in (*self.loops.arrays, *self.outputs):
            if argument.name in used:
                arguments.append(argument.name)
                parameters.append(array_parameter(argument, self.dialect))
        comment = f"Part {number} of {total} of {self.symbol}."
        return Part(f"{self.symbol}_part{number}", comment, tuple(parameters), tuple(lines)), tuple(arguments)

    def _arguments_used(self, indices: Iterable[int], refs: Sequence[int] = ()) -> set[str]:
        used = {self.argument_of[ref >> 1] for ref in refs if ref >> 1 in self.argument_of}
        for index in indices:
            used.update(self.argument_of[node] for node in self.reads[index] if node in self.argument_of)
            statement = self.statements[index]
            if isinstance(statement, (Store, StoreZeros)):
                used.add(statement.output)
            elif isinstance(statement, LoopCall):
                used.update(self.loops.arguments[statement.number])
        return used

    # ---- statements

    def print_statements(
        self,
        indices: Iterable[int],
        text: Callable[[int], str],
        travelling: frozenset[int] = frozenset(),
        loads: Mapping[int, str] = MappingProxyType({}),
    ) -> list[str]:
        """Print the statements with these numbers; ``loads`` are lines that must precede the first read of a value.

        Not all at the start: of very many values few fit into registers, and compilers would put them on the stack in between.
        """
        lines: list[str] = []
        section, loaded = "", set[int]()
        for index in indices:
            statement = self.statements[index]
            for node in sorted({node for node in self.reads[index] if node in loads} - loaded):
                lines.extend(wrapped(loads[node]))
                loaded.add(node)
            if isinstance(statement, Define) and statement.section != section:
                section = statement.section
                if section:
                    lines.extend(wrapped(f"/* {comment_text(section)} */"))
            for node in (self.late or {}).get(index, ()):
                lines.extend(wrapped(self._late_read(node)))
            for line in self._statement(statement, text):
                lines.extend(wrapped(line))
            for node in statement.nodes:
                if node in travelling:
                    lines.extend(wrapped(f"w->{self._field(node)} = {self.variable[node]};"))
        return lines

    def _statement(self, statement: Statement, text: Callable[[int], str]) -> list[str]:
        if isinstance(statement, Define):
            return [self._declare(statement.node, self.expressions.definition(statement.node, text))]
        if isinstance(statement, Store):
            return [f"{self.element(statement.output, statement.index)} = {self._alone(statement.ref, text)};"]
        if isinstance(statement, StoreZeros):
            return [self._zero_loop(statement.output, statement.first, statement.end)]
        if isinstance(statement, LoopCall):
            return [self.loops.texts[statement.number]]
        return self._sine_cosine(statement, text)

    def _alone(self, ref: int, text: Callable[[int], str]) -> str:
        """Print a value that stands alone; in lanes a constant must be made a vector."""
        value = self.expressions.reference(ref, text)
        return self.dialect.all_lanes(value) if self.graph.op[ref >> 1] is Op.CONSTANT else value

    def element(self, output: str, index: int) -> str:
        """Return where an element of an output is stored."""
        return f"{output}[{index}]"

    def _declare(self, node: int, value: str) -> str:
        return f"const {self.dialect.real_type} {self.variable[node]} = {value};"

    def _zero_loop(self, output: str, first: int, end: int) -> str:
        return f"for (int i = {first}; i < {end}; ++i) {{ {output}[i] = {self.dialect.all_lanes(self.zero)}; }}"

    def _sine_cosine(self, call: SineCosine, text: Callable[[int], str]) -> list[str]:
        real, count = self.dialect.real_type, len(call.angles)
        level = "" if call.level == 1 else str(call.level)
        angles = self._contiguous_inputs(call.angles)
        # see templates/sincos/_odd.j2; angles that are stored one by one just before cannot be read as a vector at once
        odd = count % 2 == 1 and (count > 1 if angles else count > 3 and count % 4 == 3)
        function = "sincos_odd" if odd and self.dialect.real == "double" and not self.dialect.lanes else "sincos"
        lines = []
        if not angles:
            angles = f"angle{level}"
            values = ", ".join(self.expressions.computed(node, text) for node in call.angles)
            lines.append(f"const {real} {angles}[{count}] = {{ {values} }};")
        lines += [f"{real} sine{level}[{count}];", f"{real} cosine{level}[{count}];"]
        lines.append(f"{self.dialect.prefix}_{function}({angles}, sine{level}, cosine{level}, {count});")
        self.place |= {
            node: (array, level, call.angles.index(self.graph.a[node] >> 1))
            for node in call.nodes
            for array in ["sine" if self.graph.op[node] is Op.SIN else "cosine"]
        }
        if self.late is None:
            return [*lines, *(self._declare(node, self._element_of(node)) for node in call.nodes)]
        reads = Counter(node for nodes in self.late.values() for node in nodes)
        for array in sorted({self.place[node][0] for node in call.nodes if reads[node] > 1}):
            lines.append(f"const {real} *volatile {array}_place{level} = {array}{level};")
            lines.append(f"const {real} *const {array}_again{level} = {array}_place{level};")
        return lines

    def _late_read(self, node: int) -> str:
        """Declare a sine or cosine where it is needed; a second declaration has another name."""
        if node not in self.read:
            self.read.add(node)
            return self._declare(node, self._element_of(node))
        self.variable[node] = self.names.named(f"{self.variable[node]}_again")
        return self._declare(node, self._element_of(node, "_again"))

    def _element_of(self, node: int, again: str = "") -> str:
        """Return where the call stored a sine or cosine."""
        array, level, index = self.place[node]
        return f"{'-' if self.expressions.negated_result(node) else ''}{array}{again}{level}[{index}]"

    def _contiguous_inputs(self, angles: Sequence[int]) -> str:
        """Return the address of the angles if they are consecutive elements of one input array, else ""."""
        if any(self.argument_of.get(angle, "p") == "p" for angle in angles):
            return ""
        labels = [self.graph.label[angle] for angle in angles]
        name, _, first = labels[0][:-1].partition("[")
        if labels != [f"{name}[{int(first) + step}]" for step in range(len(labels))]:
            return ""
        return name if first == "0" else f"&{name}[{first}]"

    def _check(self, text: Callable[[int], str]) -> list[str]:
        """Test the pivots: one exit, outputs defined; NaN fails as well."""
        if not self.program.pivots:
            return []
        tests = [f"({self._alone(ref, text)} > {self.zero})" for ref in self.program.pivots]
        if self.dialect.lanes:
            return wrapped(f"*good = {' & '.join(tests)};")
        condition = f"!({' && '.join(tests)})" if len(tests) > 1 else f"!{tests[0]}"
        lines = [f"{INDENT}int status = 0;", *wrapped(f"if ({condition}) {{")]
        if self.program.otherwise:
            given = ", ".join(["p", *(a.name for a in (*self.program.inputs, *self.outputs))])
            call = f"status = {self.dialect.prefix}_{self.program.otherwise}({given});"
            return [*lines, f"{2 * INDENT}{call}", f"{INDENT}}}", f"{INDENT}return status;"]
        lines += [2 * INDENT + self._zero_loop(a.name, 0, a.size) for a in self.outputs]
        lines += [f"{2 * INDENT}status = {self.dialect.failure};", f"{INDENT}}}", f"{INDENT}return status;"]
        return lines
