"""Pieces of words as tokens, cut by a unigram model of `sentencepiece`.

A word becomes one or more pieces; its slot is after its last piece. If the model's normalisation (NFKC, lower case)
removes all of a word, the word becomes `<unk>`. A part of a word for which the model has no piece also becomes `<unk>`.
The model is in the file `pieces.model`. The vocabulary contains the model's pieces, with the same ids.

Kudo 2018, "Subword Regularization", section 3.2.
"""

import io
from collections.abc import Sequence

from punc.base.errors import InputError, StrPath
from punc.data.datadir import DataDir
from punc.tokens.tokenizer import AGAIN, PieceTokenizer
from punc.tokens.vocabulary import END, SPECIALS, UNK, Vocabulary, most_frequent

TYPES = 1 << 18  # the maximum number of words on which a model is trained; the most frequent ones are used


class SubwordTokenizer(PieceTokenizer):
    token_type = "subword"
    meaning = "a piece of a word"
    vocab_size = 8000
    file = "pieces.model"

    def parse(self, content: bytes, path: StrPath | None) -> None:
        from sentencepiece import SentencePieceProcessor
        try:
            self._processor = SentencePieceProcessor(model_proto=content)
            self.vocabulary = Vocabulary(self._processor.id_to_piece(list(range(self._processor.get_piece_size()))))
        except (RuntimeError, InputError, UnicodeDecodeError):
            raise InputError("not a subword model that punc made", AGAIN.format("subword"), path) from None

    @classmethod
    def count(cls, sets: Sequence[DataDir], size: int, nj: int = 1) -> dict[bytes, int]:
        return super().count(sets, TYPES, nj)

    @classmethod
    def learn(cls, counts: dict[bytes, int], size: int, min_count: int = 1) -> "SubwordTokenizer":
        """Train a model of at most `size` pieces, not counting special tokens, on the words that occur at least
        `min_count` times. Raises InputError if the words have more than `size` different characters."""
        from sentencepiece import SentencePieceTrainer
        model = io.BytesIO()
        words = (f"{word}\t{counts[word.encode()]}" for word in most_frequent(counts, TYPES, min_count))
        try:
            SentencePieceTrainer.train(
                sentence_iterator=words, input_format="tsv", model_writer=model, model_type="unigram",
                vocab_size=size + len(SPECIALS), hard_vocab_limit=False, normalization_rule_name="nmt_nfkc_cf",
                unk_id=UNK, eos_id=END, bos_id=-1, pad_id=-1, num_threads=1, minloglevel=2)
        except RuntimeError as error:
            reason = str(error).rpartition("] ")[2].partition(". ")[0]
            raise InputError(f"cannot learn --vocab-size={size} subwords: {reason}",
                             "give a larger --vocab-size, or a text of more words") from None
        return cls(model.getvalue())

    def cut_words(self, words: list[bytes]) -> Sequence[Sequence[int]]:
        # Words are cut one at a time: for a list, sentencepiece starts threads, which takes as long as cutting 100
        # words.
        return [self._processor.encode(word) or [UNK] for word in words]
