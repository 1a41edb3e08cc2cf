"""Captures: what they say about each connection, the paths that explain them, and their tables and files."""
