"""Comparison with other packages on the same tables."""
