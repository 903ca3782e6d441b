"""The hidden-event n-gram language model (Stolcke et al. 1998)."""

from punc.models.ngram.model import Model as Model
