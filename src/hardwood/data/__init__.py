"""Tables: how frames and arrays become columns of integers, and the benchmark datasets."""
