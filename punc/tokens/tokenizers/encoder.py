"""Pieces of words as tokens, cut as a pre-trained encoder cuts them: WordPiece, byte-level BPE, Unigram and others.

A word is encoded as if it stood inside a sentence, with a space before it; its slot is after its last piece. A word
that the tokenizer's normalisation removes becomes the encoder's unknown piece, and so does a word that looks like one
of the encoder's special pieces, such as `[SEP]`.

The vocabulary is `<unk>`, `</s>`, and then the pieces of the encoder in their order; next to it is `tokenizer.json`.

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
MOST_PIECES = 1 << 21  # an id above these is an error: XLM-V has 901,629 pieces
BLANK = re.compile(r"[\s\0]")


class EncoderTokenizer(PieceTokenizer):
    """One or more tokens a word; `start` and `end` are the encoder's ids of the special pieces around a text, such as
    [CLS] and [SEP].

    Raises InputError if the content is not a tokenizer, or if the package `tokenizers` is missing.
    """

    token_type = "encoder"
    context = 32  # the encoder's windows overlap as well
    meaning = "a piece of a word, cut by a pre-trained encoder's tokenizer; --vocab names the encoder's directory"

    file = FILE

    def parse(self, content: bytes, path: StrPath | None) -> None:
        self._tokenizer = _tokenizer(content, path)
        pieces = self._tokenizer.get_vocab(with_added_tokens=True)
        if (last := max(pieces.values(), default=-1)) >= MOST_PIECES:
            raise InputError(f"a piece has the id {last}", "name an encoder's directory, or make the store again", path)
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
        """The special pieces before and after a text."""
        bare = self._tokenizer.encode(" a", add_special_tokens=False).ids
        whole = self._tokenizer.encode(" a").ids
        before = next((i for i in range(len(whole) + 1) if whole[i:i + len(bare)] == bare), None)
        if before is None:
            raise InputError("a sentence does not become the pieces of its text with special pieces around them",
                             "name the directory of an encoder, or make the store again", path)
        return whole[:before], whole[before + len(bare):]

    def _unknown_piece(self) -> int:
        """The encoder's id for text without a piece; in byte-level tokenizers, the id of `<unk>`, if any, or 0."""
        model = json.loads(self._tokenizer.to_str())["model"]
        for name in (model.get("unk_token"), "<unk>", "[UNK]"):
            if name and (found := self._tokenizer.token_to_id(name)) is not None:
                return found
        return model.get("unk_id") or 0

    @classmethod
    def read(cls, path: StrPath) -> "EncoderTokenizer":
        """The tokenizer of an encoder's directory, or of a vocabulary that has tokenizer.json next to it."""
        path = Path(path)
        return cls(_content_of(path), path / FILE) if path.is_dir() else cast(EncoderTokenizer, super().read(path))

    @classmethod
    def learn(cls, counts: dict[bytes, int], size: int, min_count: int = 1) -> "EncoderTokenizer":
        raise InputError("--token-type=encoder without --vocab", "name the encoder's directory: --vocab DIR")

    def cut_words(self, words: list[bytes]) -> Sequence[Sequence[int]]:
        texts = [f" {word.decode(errors='replace')}" for word in words]
        found = []
        for encoding in self._tokenizer.encode_batch_fast(texts, add_special_tokens=False):
            ids = encoding.ids if self._special.isdisjoint(encoding.ids) else []
            found.append([i + FIRST for i in ids or [self._unknown]])
        return found


def _tokenizer(content: bytes, path: StrPath | None) -> Any:
    """The tokenizer of a file's content; it cuts nothing off and adds no padding."""
    from tokenizers import Tokenizer
    try:
        tokenizer = Tokenizer.from_str(content.decode())
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer
    except Exception:  # the package raises Exception itself
        raise InputError("not a tokenizer of the package tokenizers",
                         "name the directory of an encoder, or make the store again", path) from None


def _content_of(directory: Path) -> bytes:
    """The content of an encoder's tokenizer.json; `transformers` makes it from the files of older tokenizers."""
    if (directory / FILE).is_file():
        return (directory / FILE).read_bytes()
    if not (directory / "config.json").is_file():
        raise InputError("not the directory of an encoder: it has no config.json",
                         "name one with config.json, model.safetensors and tokenizer.json", directory)
    os.environ["HF_HUB_OFFLINE"] = "1"
    from transformers import AutoTokenizer
    try:
        tokenizer = AutoTokenizer.from_pretrained(directory, local_files_only=True, trust_remote_code=False)
        return tokenizer.backend_tokenizer.to_str().encode()
    except Exception:  # each kind of tokenizer fails in its own way
        raise InputError(f"no {FILE}, and transformers cannot make one", "save a fast one", directory) from None


def _written(piece: str) -> str:
    """A piece as it is written in a vocabulary: one token without spaces, never one of SPECIALS."""
    piece = BLANK.sub(lambda found: f"<U+{ord(found[0]):04X}>", piece) or "<empty>"
    return f"<piece>{piece}" if piece in SPECIALS else piece
