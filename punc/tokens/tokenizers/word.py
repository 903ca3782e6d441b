"""Words as tokens: each word is one token, or `<unk>` if it is not in the vocabulary."""

from collections.abc import Callable, Sequence

from punc.tokens.tokenizer import LookupTokenizer


class WordTokenizer(LookupTokenizer):
    token_type = "word"
    meaning = "a word"

    def word_encoder(self) -> Callable[[str], Sequence[int]]:
        return super().word_encoder() if self.clitics else lambda word: (self.vocabulary.id(word),)  # no cache
