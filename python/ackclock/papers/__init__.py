"""Experiments of published papers, run again, drawn and compared with reference values.

``python -m ackclock.papers`` runs Blanton & Allman 2002; it needs the extra ``papers``.
"""
