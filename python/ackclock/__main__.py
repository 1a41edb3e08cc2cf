"""``python -m ackclock`` runs the command."""

from ackclock.cli import main

main()
