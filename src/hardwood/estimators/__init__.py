"""The front doors: classifiers, paths, audits and comparisons. They validate, call and store; no algorithm is here."""
