"""punc restores punctuation (and capitals) in speech transcripts.

    import punc
    model = punc.load("en")
    model.punctuate("so it begins as it must does it end")

Neither importing punc nor using a packed model needs PyTorch.
"""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from punc.data.labels import LabelSet
    from punc.live.punctuator import Punctuator

__version__ = "0.1.0"


def load(model: str | os.PathLike[str] = "en", *, scale: str = "", device: str = "cpu") -> "Punctuator":
    """Return a model that punctuates text; see `punc.live.punctuator.Punctuator`.

    model    a directory, or the name of a bundled model
    scale    factors for the posteriors of labels, applied before labels are chosen: "LABEL=FACTOR,…"
    device   where to run a model that is not packed: auto, cpu, cuda or cuda:N

    Raises punc.base.errors.InputError if the model does not exist or is broken, or if `scale` or `device` is invalid.
    """
    from punc.live.punctuator import Punctuator
    return Punctuator(model, scale=scale, device=device)


def score(reference: str, hypothesis: str, labels: "LabelSet | None" = None,
          characters: bool = False) -> dict[str, float]:
    """Return the metrics of a punctuated text against a reference, in percent; see `punc.scoring.texts.score_texts`.

    labels       the label set, which maps marks to labels; default: English commas, full stops and question marks
    characters   whether the texts have no spaces between words, as in Japanese

    Raises punc.base.errors.InputError for a text without words.
    """
    from punc.scoring.texts import ENGLISH, score_texts
    return score_texts(reference, hypothesis, labels or ENGLISH, characters)
