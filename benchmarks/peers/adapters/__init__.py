"""One adapter a peer, each a script of its own: a task in JSON on standard input, an answer in JSON on standard output.

A task has `values` (rows of whole numbers), `labels`, `depth`, `seconds`, and for robust trees `prices` (of a step, by
column; null: never) and `budget`, or `radius` for boxes. The answer has `tree`, as ["<=", column, threshold, left,
right] or ["leaf", label], or `predictions` where a peer keeps its tree to itself, and `proved`.
"""
