"""Heap form of a tree: the root is node 1, the children of node p are 2p (left) and 2p + 1 (right)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from hardwood.problem.candidate_splits import Split
from hardwood.trees.tree import Branch, Leaf, Node


class HeapNode(NamedTuple):
    """A node of a tree in heap form.

    Attributes
    ----------
    split : int
        Position of the split among the candidate splits; -1 for a leaf.
    label : int
        Label of a leaf.
    """

    split: int = -1
    label: int = 0


def heap_form(root: Node, depth: int, position: Callable[[Branch], int | None]) -> list[HeapNode] | None:
    """Write a tree in heap form.

    Parameters
    ----------
    root : Node
        Root of a tree that is not deeper than `depth`.
    depth : int
        Depth of the heap.
    position : callable
        Position of the split of a branching node, or None if it has none.

    Returns
    -------
    nodes : list of HeapNode or None
        Nodes by position, of which the first is not used; None if a split has no position.
    """
    nodes = [HeapNode()] * (2 << depth)

    def put(node: Node, at: int) -> bool:
        if isinstance(node, Leaf):
            nodes[at] = HeapNode(label=node.label)
            return True
        split = position(node)
        if split is None:
            return False
        nodes[at] = HeapNode(split)
        return put(node.left, 2 * at) and put(node.right, 2 * at + 1)

    return nodes if put(root, 1) else None


def root_of_heap(nodes: Sequence[tuple[int, int]], splits: Sequence[Split]) -> Node:
    """Read a tree in heap form.

    Parameters
    ----------
    nodes : sequence of HeapNode or of (int, int)
        Nodes by position, of which the first is not used.
    splits : sequence of Split
        Splits that the nodes refer to by position.

    Returns
    -------
    root : Node
    """

    def subtree(at: int) -> Node:
        split, label = nodes[at]
        if split < 0:
            return Leaf(int(label))
        feature, code, missing_left = splits[split]
        return Branch(feature, code, subtree(2 * at), subtree(2 * at + 1), missing_left)

    return subtree(1)
