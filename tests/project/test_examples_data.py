import importlib.util
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
INSTALLED = EXAMPLES.parent / "src" / "epivote" / "cli" / "demo_quiz"


def test_the_carried_quiz_is_what_its_generator_makes(tmp_path):
    spec = importlib.util.spec_from_file_location("make_birds", EXAMPLES / "make_birds.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.make(tmp_path)
    for name in ("birds.csv", "birds-gold.csv"):
        assert (tmp_path / name).read_bytes() == (EXAMPLES / name).read_bytes()
        assert (tmp_path / name).read_bytes() == (INSTALLED / name).read_bytes()
