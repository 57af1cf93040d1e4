"""Readable names of intermediates: a node has a label only if it is true for all uses of the node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastogen.generator.program.operations import Op

if TYPE_CHECKING:
    from elastogen.generator.program.graph import Graph

PARAMETERS = "parameters"  # section of what depends on live parameters only
UNNAMED = "~"  # begins the label of a node that is an intermediate of its own, but has no name that is true for all its uses


def propose(graph: Graph, node: int, label: str) -> None:
    """Propose a name for an intermediate; the first proposal wins.

    It does not count where the node was made for something else (a cosine, a product of parameters), where the name stands for
    different values (the recursion runs for every column of a matrix), or the value for quantities of different kinds.
    """
    if graph.op[node] <= Op.INPUT:
        return
    owner, known = graph.owners.setdefault(label, node), graph.label[node]
    if owner != node and graph.label[owner] == label:
        graph.label[owner] = UNNAMED + label
    shared = owner != node or graph.op[node] > Op.DIV or graph.section_of[node] == PARAMETERS
    if not known:
        graph.label[node] = UNNAMED + label if shared else label
    elif known[0] not in (UNNAMED, label[0]):
        graph.label[node] = UNNAMED + known


def keep_label(graph: Graph, ref: int, label: str) -> None:
    """Give an intermediate its previous label unless it has one."""
    if not graph.label[ref >> 1] and graph.op[ref >> 1] > Op.INPUT:
        graph.label[ref >> 1] = label
