"""A small quiz: four questions, three alternatives, one picture."""

DOT = '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="60"><circle cx="45" cy="30" r="20"/></svg>\n'
QUIZ = """
title = "Which animals?"
instructions = "Tick what you hear."
size = "1..2"
ranking = true

[[alternatives]]
name = "cat"
[[alternatives]]
name = "dog"
help = "It barks."
[[alternatives]]
name = "owl"
picture = "dot.svg"
picture_text = "An owl."

[[instances]]
name = "yard"
picture = "dot.svg"
picture_text = "A yard."
[[instances]]
name = "barn"
text = "What is in the barn?"
[[instances]]
name = "roof"
picture = "dot.svg"
picture_text = "A roof."
text = "What is on the roof?"
[[instances]]
name = "street"
text = "Who crosses the street?"
"""


def write_quiz(folder, text=QUIZ):
    """Write it, or another quiz beside the same picture, into a folder."""
    folder.mkdir(exist_ok=True)
    (folder / "dot.svg").write_text(DOT)
    quiz = folder / "quiz.toml"
    quiz.write_text(text)
    return quiz
