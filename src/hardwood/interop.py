"""Conversion of trees: to and from scikit-learn, and to text, Graphviz, Python and SQL."""

from hardwood.trees.export import to_dot, to_python, to_sql, to_text
from hardwood.trees.sklearn_interop import design_matrix, design_names, from_sklearn, to_sklearn

__all__ = ["design_matrix", "design_names", "from_sklearn", "to_dot", "to_python", "to_sklearn", "to_sql", "to_text"]
