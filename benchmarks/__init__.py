"""Benchmarks: side-by-side runs, their results and the pages made from them."""
