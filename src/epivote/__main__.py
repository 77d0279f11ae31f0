"""`python -m epivote` is the `epivote` command."""

from epivote.cli import app

if __name__ == "__main__":
    app(prog_name="epivote")
