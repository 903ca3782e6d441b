"""The hidden-event n-gram language model (Stolcke & Shriberg 1996)."""

from punc.models.ngram.model import Model as Model
