"""Classifiers, paths, audits and comparisons: they validate, call and store; algorithms are in other packages."""
