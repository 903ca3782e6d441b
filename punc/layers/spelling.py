"""Computes word vectors from characters: the final states of a BLSTM (Lample et al. 2016, section 4.1).

Bansal 2019 (section "Word Embeddings") appends these vectors, called w_chars, to word embeddings. A model reads word
ids, so it has a table with the spelling of each word in its vocabulary. With the token type `spelled`, a word outside
the vocabulary becomes its characters, one token each, and then `<unk>` (tokens.tokenizers.spelled).
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from punc.base.errors import check_at_least
from punc.tokens.tokenizers.spelled import CHARACTER, MAX_LENGTH, spelling_of
from punc.tokens.vocabulary import SPECIALS, Vocabulary

PADDING, OTHER = 0, 3  # numbers for padding and for rare characters; 1 and 2 stand for special tokens
BATCH_SIZE = 256  # the number of words of similar length that are read together


class Spelling(nn.Module):
    """Computes vectors of 2 · character_hidden_dim numbers for the words of a vocabulary. The `alphabet` characters
    that are most frequent in the vocabulary have their own embeddings of size `character_dim`; all other characters
    share one embedding."""

    def __init__(self, vocab: int, alphabet: int, character_dim: int, character_hidden_dim: int):
        super().__init__()
        check_at_least(1, alphabet=alphabet, character_dim=character_dim, character_hidden_dim=character_hidden_dim)
        self.alphabet, self.size = alphabet, 2 * character_hidden_dim
        self.table: Tensor
        self.register_buffer("table", torch.zeros(vocab, MAX_LENGTH, dtype=torch.int32))
        self.embedding = nn.Embedding(OTHER + 1 + alphabet, character_dim)
        self.forwards = nn.LSTM(character_dim, character_hidden_dim, batch_first=True)
        self.backwards = nn.LSTM(character_dim, character_hidden_dim, batch_first=True)
        self._vectors: Tensor | None = None  # the vectors of all words, computed by `traceable`

    def initialize_from_vocabulary(self, vocabulary: Vocabulary, characters_from: int | None = None) -> None:
        """Store the spelling of each token. Tokens from number `characters_from` on are characters; all others are
        words."""
        tokens = [token if characters_from is None or i < characters_from else token.removeprefix(CHARACTER)
                  for i, token in enumerate(vocabulary.tokens)]
        self.table.copy_(torch.tensor(spell(tokens, self.alphabet), dtype=torch.int32))

    def _load_from_state_dict(self, *args: Any, **kwargs: Any) -> None:
        super()._load_from_state_dict(*args, **kwargs)
        if self.table.numel() and (self.table.min() < 0 or self.table.max() >= len(self.embedding.weight)):
            raise ValueError("spellings with characters that the model does not have")

    def forward(self, words: Tensor) -> Tensor:
        """Map word ids of any shape (…) to vectors (…, size). Reads each distinct word only once."""
        different, indices = words.unique(return_inverse=True)
        return nn.functional.embedding(indices, self.read_characters(self.table[different]))

    def traceable(self, words: Tensor) -> Tensor:
        """Return the same as `forward`, but look up the vectors in a constant table of all words, for exporters.
        The first call must be made without tracing, because it computes the table."""
        if not torch.jit.is_tracing():
            with torch.no_grad():
                self._vectors = self.read_characters(self.table)
        assert self._vectors is not None, "called before"
        return nn.functional.embedding(words, self._vectors)

    def read_characters(self, characters: Tensor) -> Tensor:
        """Map the characters (N, MAX_LENGTH) of words, padded with PADDING, to vectors (N, size)."""
        lengths = (characters != PADDING).sum(1).clamp_min(1)  # in a broken file, words may have no characters
        order = lengths.argsort(stable=True)
        found = [self._read(characters[group], lengths[group]) for group in order.split(BATCH_SIZE)]
        return torch.cat(found)[order.argsort()] if found else self.embedding.weight.new_zeros(0, self.size)

    def read_spelled(self, tokens: Tensor, rows: Tensor, columns: Tensor, characters_from: int) -> Tensor:
        """Return vectors (N, size) of the N words at tokens[rows, columns]. The characters of a word are the
        character tokens directly before it. If there are none, for example because a chunk starts at the word, the
        table's spelling of its token is used."""
        before = columns.unsqueeze(1) - torch.arange(MAX_LENGTH, 0, -1, device=tokens.device)
        found = tokens[rows.unsqueeze(1), before.clamp_min(0)]
        is_character = (found >= characters_from) & (before >= 0)
        # Keep only characters directly before the word.
        is_character = is_character.flip(1).long().cumprod(1).flip(1) > 0
        lengths = is_character.sum(1, keepdim=True)
        numbers = self.table[found][..., 0]
        numbers = torch.where(numbers == PADDING, OTHER, numbers).masked_fill(~is_character, PADDING)
        steps = torch.arange(MAX_LENGTH, device=tokens.device)
        shifted = numbers.gather(1, (MAX_LENGTH - lengths + steps).clamp_max(MAX_LENGTH - 1))
        spelled = shifted.masked_fill(steps >= lengths, PADDING)
        spelled = torch.where(lengths > 0, spelled, self.table[tokens[rows, columns]])
        different, indices = spelled.unique(dim=0, return_inverse=True)
        return nn.functional.embedding(indices, self.read_characters(different))

    def _read(self, characters: Tensor, lengths: Tensor) -> Tensor:
        longest = int(lengths[-1])
        steps = torch.arange(longest, device=characters.device)
        last = lengths.unsqueeze(1) - 1
        characters = characters[:, :longest]
        backward = characters.gather(1, (last - steps).clamp_min(0))
        rows = torch.arange(len(lengths), device=characters.device)
        ends = [lstm(self.embedding(line))[0][rows, lengths - 1]
                for lstm, line in ((self.forwards, characters), (self.backwards, backward))]
        return torch.cat(ends, 1)


def spell(tokens: Sequence[str], alphabet: int) -> list[list[int]]:
    """Convert the characters of each token to MAX_LENGTH numbers, padded with PADDING. The `alphabet` most frequent
    characters are numbered from OTHER + 1 on, starting with the most frequent."""
    words = [spelling_of(token) for token in tokens]
    counts = Counter("".join(words[len(SPECIALS):]))
    common = sorted(counts, key=lambda character: (-counts[character], character))[:alphabet]
    numbers = {character: number for number, character in enumerate(common, OTHER + 1)}
    lines = [[1 + i] for i in range(len(SPECIALS))]
    lines += [[numbers.get(character, OTHER) for character in word] for word in words[len(SPECIALS):]]
    return [line + [PADDING] * (MAX_LENGTH - len(line)) for line in lines]
