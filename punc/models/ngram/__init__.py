"""The hidden-event n-gram language model (Stolcke & Shriberg 1996). It can read ARPA files of other programs."""

from punc.models.ngram.model import Model as Model
