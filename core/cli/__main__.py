"""`python -m core.cli`: the `privcfs` command without its console script."""

from core.cli import main

main()
