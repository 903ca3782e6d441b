"""The options of `punc punctuate`: decoding options (shared with `punc transcript`) and output options."""

from dataclasses import dataclass

import numpy as np

from punc.base.errors import InputError, check_at_least
from punc.base.options import nearest
from punc.base.processor import check_device
from punc.data.labels import LabelSet

# Long streams are cut into chunks, which are decoded in batches. The model also reads some tokens of context before
# each chunk (and after it, if the model is bidirectional), so that its state at the chunk is almost the same as without
# cuts. A stream is always cut at the same points, so labels do not depend on the batch (except for rounding, if the
# model multiplies in int8). The recipes measure the cost of cutting. `--chunk-size 0` decodes without cuts.
CHUNK_SIZE = 1024  # tokens
CONTEXT = 256  # tokens
BATCH_SIZE = 32  # chunks; with 128, BLSTM-CRF takes 1.5 times as long
PACKED_CONTEXT = 32  # tokens, for packed models; 1 label in 3000 differs from the label with 256 tokens
UNCUT = 1 << 40  # the chunk size, in tokens, for streams that are not cut


@dataclass(frozen=True)
class DecodingOptions:
    """How a model labels streams.

    scale       multiply posteriors before labels are chosen: LABEL=FACTOR,…; O=0.8 gives more marks, O=1.2 fewer
    chunk_size  tokens of a stream decoded at once; 0: the whole stream, however much memory that takes
    context     tokens read before each chunk (and after it, by a bidirectional model); default: 256, or 32 for
                packed models and encoders
    viterbi     with a CRF, choose the most probable sequence of labels; false: the most probable label of each slot
    device      auto, cpu, cuda or cuda:N; auto: a GPU if PyTorch sees one
    case_rule   a word after the end of a sentence, or at the start of a stream, gets a capital

    Raises InputError if a number is too small or the device name is invalid.
    """

    scale: str = ""
    chunk_size: int = CHUNK_SIZE
    context: int | None = None
    viterbi: bool = True
    case_rule: bool = False
    device: str = "auto"

    def __post_init__(self) -> None:
        check_at_least(0, chunk_size=self.chunk_size, context=self.context or 0)
        check_device(self.device)


@dataclass(frozen=True)
class OutputOptions:
    """The output of `punc punctuate` other than the labels.

    posteriors  write post.ark and post.scp
    casing      a file of words with capitals after the first letter (NATO); default: the model's file, if it has one
    clitics     a file of clitics to join to their words (do n't → don't); if given, text_punct is written as prose
    ctm         the CTM whose words get marks in ctm_punct; default: DATA-DIR/ctm, if there is one
    """

    posteriors: bool = True
    casing: str = ""
    clitics: str = ""
    ctm: str = ""


def parse_scale(text: str, labels: LabelSet) -> np.ndarray | None:
    """Return the factors in `LABEL=FACTOR,…`, float32 (L,), or None for an empty text. Raises InputError if the
    text is invalid."""
    factors = np.ones(len(labels), np.float32)
    for item in text.split(",") if text else ():
        name, equals, number = item.partition("=")
        if not equals:
            raise InputError(f"--scale: '{item}'", "write LABEL=FACTOR, such as O=0.8, separated by commas")
        if name not in labels.names:
            raise InputError(f"--scale: no label '{name}'", nearest(name, labels.names))
        try:
            factor = float(number)
        except ValueError:
            factor = 0.0
        if not 1e-37 < factor < 3e38:  # roughly the range of float32
            raise InputError(f"--scale: '{number}' is not a factor for {name}", "give a number above 0, such as O=0.5")
        factors[labels.index(name)] = factor
    return factors if text else None
