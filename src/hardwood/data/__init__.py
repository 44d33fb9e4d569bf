"""Tables: how frames and arrays become columns of whole numbers, and the benchmark tables."""
