"""The paper's study: a grid of instances, a runner that survives anything, tables and figures of the results.

    grid -> tasks -> runner (backends, store) -> results.parquet -> summary and figures

Each step can be repeated alone. The command is `hardwood study`.
"""
