"""Check that the search of the built documentation finds what people look for; run by `make docs` after building."""

import json
import sys
from pathlib import Path

INDEX = Path(__file__).parent.parent / "site" / "search.json"
SOUGHT = {
    "correlated": ("explanation/confidence/", "how-to/people-and-models/", "faq/"),
    "overconfident": ("explanation/confidence/", "faq/", "glossary/"),
    "annotator": ("index", "glossary/", "how-to/from-label-studio/"),
    "multi-label": ("index", "how-to/size/", "glossary/"),
    "threshold": ("how-to/size/", "how-to/explain/", "faq/"),
}
"""Words that people type, and the pages on which they should then arrive."""
