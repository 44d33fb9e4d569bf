"""The paper's study: a grid of instances, a fault-tolerant runner, tables and figures of the results.

    grid -> tasks -> runner (backends, store) -> results.parquet -> summary and figures

Each step can be repeated separately. The command is `hardwood study`.
"""
