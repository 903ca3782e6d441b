"""A linear-chain CRF on features of words (Gale & Parthasarathy 2017, section 2.2)."""

from punc.models.word_crf.model import Model as Model
