"""The command ``ackclock``: a module for each command, and what commands have in common."""
