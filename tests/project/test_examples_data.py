import importlib.util
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
INSTALLED = EXAMPLES.parent / "src" / "epivote" / "cli" / "demo_quiz"
TUTORIAL = EXAMPLES.parent / "docs" / "tutorial"


def make(name, folder):
    """What a generator of examples writes."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.make(folder)


def test_the_carried_quiz_is_what_its_generator_makes(tmp_path):
    make("make_birds", tmp_path)
    for name in ("birds.csv", "birds-gold.csv"):
        assert (tmp_path / name).read_bytes() == (EXAMPLES / name).read_bytes()
        assert (tmp_path / name).read_bytes() == (INSTALLED / name).read_bytes()


def test_the_tickets_of_the_tutorial_are_what_their_generator_makes(tmp_path):
    make("make_tickets", tmp_path)
    for name in ("tickets.json", "expert.csv"):
        assert (tmp_path / name).read_bytes() == (TUTORIAL / name).read_bytes()
