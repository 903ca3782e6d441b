"""Vectors of words by their characters: final states of an LSTM in each direction (Lample et al. 2016, section 4.1).

In Bansal 2019 they stand beside each word's own vector ("Word Embeddings", w_chars). A model knows words by their
numbers alone, so it keeps how each word of its vocabulary is spelt, as a table.
"""

import unicodedata
from collections import Counter
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from punc.base.errors import InputError
from punc.tokens.vocabulary import SPECIALS, Vocabulary

LONGEST = 32  # characters that are read of a word: of a longer one the first half and the last
PADDING, OTHER = 0, 3  # characters: none, and any without a vector of its own; 1 and 2 are the special tokens
GROUP = 256  # words of about one length that are read side by side


class Spelling(nn.Module):
    """Vectors (2 · hidden_dim) of the words of a vocabulary.

    vocab       number of words
    alphabet    characters that have a vector of their own, the most frequent of the vocabulary; others share one
    dimensions  numbers of a character's vector

    The special tokens have no characters: each is a character of its own. While a model is not training, a word's
    vector is computed once and kept.
    """

    def __init__(self, vocab: int, alphabet: int, dimensions: int, hidden_dim: int):
        super().__init__()
        for option, value in (("alphabet", alphabet), ("character-dim", dimensions),
                              ("character-hidden-dim", hidden_dim)):
            if value < 1:
                raise InputError(f"--{option}={value}", "it is 1 or more")
        self.alphabet, self.size = alphabet, 2 * hidden_dim
        self.register_buffer("table", torch.zeros(vocab, LONGEST, dtype=torch.int32))
        self.embedding = nn.Embedding(OTHER + 1 + alphabet, dimensions)
        self.forwards = nn.LSTM(dimensions, hidden_dim, batch_first=True)
        self.backwards = nn.LSTM(dimensions, hidden_dim, batch_first=True)
        self._kept: tuple[Tensor, Tensor] | None = None

    def fill(self, vocabulary: Vocabulary) -> None:
        """Take from the vocabulary how its words are spelt."""
        self.table.copy_(torch.tensor(spell(vocabulary.tokens, self.alphabet), dtype=torch.int32))

    def train(self, mode: bool = True) -> "Spelling":
        self._kept = None  # of other weights
        return super().train(mode)

    def _load_from_state_dict(self, *args, **kwargs) -> None:
        self._kept = None
        super()._load_from_state_dict(*args, **kwargs)

    def forward(self, words: Tensor) -> Tensor:
        """Words of any shape → vectors (…, size); each different word is read once."""
        different, places = words.unique(return_inverse=True)
        if self.training or torch.is_grad_enabled():
            return nn.functional.embedding(places, self.read(different))
        if self._kept is None or self._kept[0].is_inference() != torch.is_inference_mode_enabled():
            self._kept = (self.embedding.weight.new_zeros(len(self.table), self.size),
                          torch.zeros(len(self.table), dtype=torch.bool, device=self.table.device))
        vectors, known = self._kept
        new = different[~known[different]]
        if len(new):
            vectors[new], known[new] = self.read(new), True
        return nn.functional.embedding(words, vectors)

    def read(self, words: Tensor) -> Tensor:
        """Words (N,) → vectors (N, size), of words of about one length together."""
        characters = self.table[words]
        lengths = (characters != PADDING).sum(1)
        order = lengths.argsort(stable=True)
        found = [self._read(characters[group], lengths[group]) for group in order.split(GROUP)]
        return torch.cat(found)[order.argsort()] if found else self.embedding.weight.new_zeros(0, self.size)

    def _read(self, characters: Tensor, lengths: Tensor) -> Tensor:
        longest = int(lengths[-1])
        steps, last = torch.arange(longest, device=characters.device), lengths.unsqueeze(1) - 1
        characters = characters[:, :longest]
        turned = characters.gather(1, (last - steps).clamp_min(0))
        rows = torch.arange(len(lengths), device=characters.device)
        ends = [lstm(self.embedding(line))[0][rows, lengths - 1]
                for lstm, line in ((self.forwards, characters), (self.backwards, turned))]
        return torch.cat(ends, 1)


def spell(tokens: Sequence[str], alphabet: int) -> list[list[int]]:
    """The characters of each token as LONGEST numbers: those behind OTHER, PADDING at the end.

    Accents that combine are composed with their letter (NFC). Of a token that is longer, the middle is left out.
    """
    words = [unicodedata.normalize("NFC", token) for token in tokens]
    half = LONGEST // 2
    words = [word if len(word) <= LONGEST else word[:half] + word[-half:] for word in words]
    counts = Counter("".join(words[len(SPECIALS):]))
    common = sorted(counts, key=lambda character: (-counts[character], character))[:alphabet]
    numbers = {character: number for number, character in enumerate(common, OTHER + 1)}
    lines = [[1 + i] for i in range(len(SPECIALS))]
    lines += [[numbers.get(character, OTHER) for character in word] for word in words[len(SPECIALS):]]
    return [line + [PADDING] * (LONGEST - len(line)) for line in lines]
