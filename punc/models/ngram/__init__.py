"""The hidden-event n-gram language model (Stolcke & Shriberg 1996), with back-off weights of KenLM."""

from punc.models.ngram.model import Model

__all__ = ["Model"]
