"""Which stack stands reordering best? A small study in typed Python: ``python -m study``."""
