"""Published papers, reproduced: ``ackclock reproduce`` runs them, draws their figures and judges their claims.

A paper is a folder with ``paper.toml``, scenarios, claims, reference values and the Python code that runs and judges
them. The repository's papers are in ``papers/``; any other folder is run by its path. ``docs/own-paper.md`` explains
how to write one.
"""
