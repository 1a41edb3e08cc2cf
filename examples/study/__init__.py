"""Which stack handles reordering best? A small study in typed Python: ``python -m study``."""
