"""Adapters, one script per package: they read a task in JSON on standard input and write a result in JSON.

A task has `values` (rows of integers), `labels`, `depth`, `seconds`, and for robust trees `costs` (of a step, by
column; null: the column does not shift) and `budget`, or `radius` for boxes. The result has `proved`, and `tree` as
["<=", column, threshold, left, right] or ["leaf", label], or `predictions` where a package does not expose its tree.
"""
