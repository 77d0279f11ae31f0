"""The `epivote` command: parse, call one public function, print."""

from epivote.cli.main import app

__all__ = ["app"]
