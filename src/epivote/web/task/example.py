"""The example that `epivote collect new` writes."""

from importlib.resources import files

EXAMPLE = (files("epivote.web.task") / "example.toml").read_text(encoding="utf-8")
