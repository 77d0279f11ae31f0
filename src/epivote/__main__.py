"""`python -m epivote` is the `epivote` command."""

from epivote_command import main

if __name__ == "__main__":
    main()
