"""``python -m ackclock`` is the command."""

from ackclock.cli import main

main()
