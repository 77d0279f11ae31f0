"""The words of the page docs/explanation/comparison.md."""

from __future__ import annotations

from experiments.page.comparing import table

INTRODUCTION = """# Comparison with other tools

<!-- written by `make compare` -->

epivote beside crowd-kit, snorkel, cleanlab and peerannot on the same real ballots with known true sets. All figures
come from `make compare`, which keeps each of them in `build/compare` and goes on where it was interrupted.
"""
ALL_SETS = """Means over the {} sets, of the tools that ran on all of them; all sets count equally.
"""
HOW_TO_READ = """How to read the tables:

- *Exact sets*: share of the true sets that were found without a missing or a wrong alternative.
- *Within bounds*: the other tools know nothing of size bounds. Where they state probabilities, this
  column takes the most probable set within the bounds instead, which you could do yourself. Sets found by epivote are
  always within the bounds, so it has no second figure.
- *Jaccard*: mean overlap of found and true set.
- *Alternatives*: share of the offered alternatives that were decided rightly, in or out.
- *Stated* and *error* are confidence and its calibration error, about whole sets: the mean of what was stated, and its
  mean distance from the share that was right, in ten bins. Tools that answer alternative by alternative state a
  product of probabilities for a set. A dash means that the tool states none.
- *Time*: processor time of the fit, all threads together, as a multiple of epivote's EM on the same set; in the first
  table from smallest to largest. Reading files is not part of it.
- *{gold} gold*: mean over {draws} random draws of gold sets, scored on the other instances. No other row has seen gold.
"""
TURNED_INTO = (
    """## How ballots became the input of other tools

None of these tools takes sets with size bounds. Each got one yes/no question per instance and offered alternative: an
approval is a yes, an offered alternative left unticked a no. Alternatives that were not on the menu of an instance and
ballots that were not cast give no answer; an empty ballot is a no to every alternative of the menu. The alternatives
answered yes are the set.

- **Pooled** (all rows but those that say *per label*): all questions in one model, so that a voter is equally reliable
  on all alternatives. No tool does this by itself; it helps wherever alternatives are many.
- **Per label**: one model per alternative, as crowd-kit's `BinaryRelevance` fits them. It needs the same alternatives
  on every instance, so these rows are missing where menus differ: there most alternatives are offered on few instances.

"""
    + table(
        ["tool", "input", "set"],
        [
            [
                "crowd-kit `MajorityVote`, `DawidSkene`, `GLAD`, `MMSR`",
                "dataframe `worker, task, label` with a row per answer, label 0 or 1; default settings",
                "its labels; its `probas_`, if it has them, are the probabilities",
            ],
            [
                "crowd-kit `DawidSkene`, 50 iterations",
                "the same with `tol=-inf`, because its own stopping rule often ends it after two iterations "
                "(see [which method when](methods.md#real-ballots))",
                "the same",
            ],
            [
                "snorkel `LabelModel`",
                "matrix of questions by voters: 1, 0, or -1 (abstain) where there is no answer; default settings, "
                "seed 0",
                "probability above one half",
            ],
            [
                "the same, class balance given",
                "`class_balance` is the share of approvals among all answers; by default yes and no are taken "
                "as equally frequent",
                "the same",
            ],
            [
                "cleanlab `get_label_quality_multiannotator`",
                "matrix of questions by voters, NaN where there is no answer. It needs the predictions of a "
                "classifier; ballots have none, so it got the share of approvals for every question. With a classifier "
                "it should do better",
                "its consensus label; its quality score is the probability",
            ],
            ["peerannot `DawidSkene`", "`{task: {worker: 0 or 1}}`", "probability above one half"],
        ],
    )
    + """
Models made for several labels per instance, such as MCMLD (Zhang and Wu, *Multi-Label Inference for Crowdsourcing*, KDD
2018), are not on a package index, and their published figures are about other ballots, so they are left out here.
"""
)
OFFERS = (
    "## What each tool offers\n\n"
    + table(
        [
            "",
            "epivote",
            "[crowd-kit](https://crowd-kit.readthedocs.io/)",
            "[snorkel](https://snorkel.readthedocs.io/)",
            "[cleanlab](https://docs.cleanlab.ai/stable/cleanlab/multiannotator.html)",
            "peerannot",
        ],
        [
            [
                "several alternatives per instance",
                "sets",
                "`BinaryRelevance`: one model per label",
                "one class per instance",
                "one class per instance",
                "one class per instance",
            ],
            ["size bounds", "yes, also per instance", "no", "no", "no", "no"],
            ["reliability of a voter pooled over alternatives", "yes", "no: one model per label", "no", "no", "no"],
            ["menus that differ by instance", "yes", "no", "no", "no", "no"],
            [
                "missing ballot apart from an empty one",
                "yes",
                "yes: no row, or an empty list",
                "yes: abstain",
                "yes: NaN",
                "yes: no entry",
            ],
            [
                "probability of the whole set",
                "yes",
                "no: per label",
                "no: per class",
                "no: quality of each label",
                "no: per class",
            ],
            [
                "gold",
                "learns and calibrates with it",
                "`DawidSkene` (`true_labels`), `GoldMajorityVote`",
                "for the class balance (`Y_dev`)",
                "no",
                "no",
            ],
            [
                "a classifier",
                "as one more voter",
                "in `crowdkit.learning`",
                "as one more labelling function",
                "yes, its main use",
                "trains one on the result",
            ],
            ["streaming", "`EM.partial_fit`", "no", "no", "no", "no"],
            ["explanation of one set", "`explain`", "no", "no", "no", "no"],
            ["which instances to label next", "`review`", "no", "no", "ActiveLab scores", "ambiguous tasks (WAUM)"],
            [
                "other kinds of labels",
                "no",
                "pairwise, text, segmentation",
                "slices, augmentation",
                "tokens, boxes, regression",
                "no",
            ],
        ],
    )
    + "\nAs documented on the linked pages and by the signatures of the versions named above.\n"
)
