"""The datasets of the paper, by name."""

from hardwood.data.datasets import PAPER_DATASETS, RECIPES, Dataset, load_dataset

__all__ = ["PAPER_DATASETS", "RECIPES", "Dataset", "load_dataset"]
