"""Pieces of words as tokens, cut by a pre-trained encoder's tokenizer, such as WordPiece, byte-level BPE or Unigram.

A word is encoded with a space before it, as inside a sentence. Its slot is after its last piece. A word becomes the
encoder's unknown piece if the tokenizer's normalisation removes it, or if it contains a special piece of the encoder,
such as `[SEP]`.

The vocabulary consists of `<unk>`, `</s>`, and the encoder's pieces in the order of their ids.

Schuster & Nakajima 2012 (WordPiece); Sennrich, Haddow & Birch 2016 (BPE); Kudo 2018 (Unigram).
"""

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from punc.base.errors import InputError, StrPath
from punc.tokens.tokenizer import PieceTokenizer
from punc.tokens.vocabulary import SPECIALS, Vocabulary

FILE = "tokenizer.json"
FIRST = len(SPECIALS)  # the id of the encoder's first piece
MOST_PIECES = 1 << 21  # ids from this number on are refused; even XLM-V has only 901,629 pieces
BLANK = re.compile(r"[\s\0]")


class EncoderTokenizer(PieceTokenizer):
    """Cuts words into pieces with an encoder's tokenizer. `start` and `end` are the encoder's ids of the special pieces
    around a text, such as [CLS] and [SEP]. Raises InputError if the content of tokenizer.json is not an encoder's
    tokenizer, and ModuleNotFoundError if the package `tokenizers` is missing."""

    token_type = "encoder"
    context = 32  # tokens; few are enough, because the encoder reads overlapping windows anyway
    meaning = "a piece of a word, cut by a pre-trained encoder's tokenizer; --vocab names the encoder's directory"

    file = FILE

    def parse(self, content: bytes, path: StrPath | None) -> None:
        self._tokenizer = _tokenizer(content, path)
        pieces = self._tokenizer.get_vocab(with_added_tokens=True)
        if (last := max(pieces.values(), default=-1)) >= MOST_PIECES:
            raise InputError(f"piece {last} is beyond the limit of {MOST_PIECES}",
                             "give an encoder's directory, or make the store again", path)
        written = [f"<unused{i}>" for i in range(last + 1)]
        for piece, i in pieces.items():
            written[i] = _written(piece)
        self.vocabulary = Vocabulary([*SPECIALS, *written], path)
        self.start, self.end = self._around(path)
        self._unknown = self._unknown_piece()
        self.unknown = (self._unknown + FIRST,)
        added = self._tokenizer.get_added_tokens_decoder()
        self._special = {i for i, token in added.items() if token.special} - {self._unknown}

    def _around(self, path: StrPath | None) -> tuple[list[int], list[int]]:
        bare = self._tokenizer.encode(" a", add_special_tokens=False).ids
        whole = self._tokenizer.encode(" a").ids
        before = next((i for i in range(len(whole) + 1) if whole[i:i + len(bare)] == bare), None)
        if before is None:
            raise InputError("the tokenizer adds special pieces inside a sentence",
                             "give the directory of an encoder, or make the store again", path)
        return whole[:before], whole[before + len(bare):]

    def _unknown_piece(self) -> int:
        """Return the encoder's id for text that has no piece. This is the id of the first token that exists among the
        tokenizer's `unk_token`, `<unk>` and `[UNK]`. If none exists, it is the tokenizer's `unk_id`, or 0."""
        model = json.loads(self._tokenizer.to_str())["model"]
        for name in (model.get("unk_token"), "<unk>", "[UNK]"):
            if name and (found := self._tokenizer.token_to_id(name)) is not None:
                return found
        return model.get("unk_id") or 0

    @classmethod
    def read(cls, path: StrPath) -> "EncoderTokenizer":
        """Read a tokenizer from an encoder's directory, or from a vocabulary with tokenizer.json next to it."""
        path = Path(path)
        return cls(_content_of(path), path / FILE) if path.is_dir() else cast(EncoderTokenizer, super().read(path))

    @classmethod
    def learn(cls, counts: dict[bytes, int], size: int, min_count: int = 1) -> "EncoderTokenizer":
        raise InputError("--token-type=encoder without --vocab", "give the encoder's directory: --vocab DIR")

    def cut_words(self, words: list[bytes]) -> Sequence[Sequence[int]]:
        texts = [f" {word.decode(errors='replace')}" for word in words]
        found = []
        for encoding in self._tokenizer.encode_batch_fast(texts, add_special_tokens=False):
            ids = encoding.ids if self._special.isdisjoint(encoding.ids) else []
            found.append([i + FIRST for i in ids or [self._unknown]])
        return found


def _tokenizer(content: bytes, path: StrPath | None) -> Any:
    from tokenizers import Tokenizer
    try:
        tokenizer = Tokenizer.from_str(content.decode())
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer
    except Exception:  # the package raises plain Exception
        raise InputError("not a tokenizer of the package tokenizers",
                         "give the directory of an encoder, or make the store again", path) from None


def _content_of(directory: Path) -> bytes:
    """Return the content of an encoder's tokenizer.json. If there is no such file, `transformers` makes the content
    from other tokenizer files."""
    if (directory / FILE).is_file():
        return (directory / FILE).read_bytes()
    if not (directory / "config.json").is_file():
        raise InputError("not the directory of an encoder: it has no config.json",
                         "give one with config.json, model.safetensors and tokenizer.json", directory)
    os.environ["HF_HUB_OFFLINE"] = "1"
    from transformers import AutoTokenizer
    try:
        tokenizer = AutoTokenizer.from_pretrained(directory, local_files_only=True, trust_remote_code=False)
        return tokenizer.backend_tokenizer.to_str().encode()
    except Exception:  # tokenizers raise various exceptions
        raise InputError(f"no {FILE}, and transformers cannot make one",
                         "save a fast tokenizer there", directory) from None


def _written(piece: str) -> str:
    piece = BLANK.sub(lambda found: f"<U+{ord(found[0]):04X}>", piece) or "<empty>"
    return f"<piece>{piece}" if piece in SPECIALS else piece
