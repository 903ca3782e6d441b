"""The hidden-event n-gram language model (Stolcke & Shriberg 1996). It can read other programs' ARPA files."""

from punc.models.ngram.model import Model as Model
