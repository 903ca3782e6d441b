"""Measures the speed of decoding with an encoder, compared with `transformers` alone on the same pieces.

    python tests/bench/bench_encoder.py [--exp EXP-DIR | --encoder DIR] [--words N] [--batch N] [--runs N] [--threads N]

The encoder comes from a trained model (--exp) or a directory (--encoder), or is a random BERT of MiniLM's size. Three
methods are measured in turn:

transformers   the forward pass of `transformers` alone, on windows of the model's size plus the special pieces
windows        punc's model on the same windows, from pieces to posteriors
stream         punc's `log_posteriors` on all pieces as one stream, which is cut into overlapping windows

All speeds are in pieces per processor second, so that other work on the machine matters little. The figures are medians
over the runs. The limit is the speed that would be reached if all work were products with the layers' weights, at the
measured rate of products of 1024 × 1024 matrices.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from machine import gflops

from punc.data.labels import Label, LabelSet
from punc.decoding.decode import log_posteriors
from punc.models.base import create, load
from punc.tokens.store_set import StoreSet
from punc.tokens.tokenizers.encoder import FIRST, EncoderTokenizer

LABELS = LabelSet((Label("O", "w"), Label("COMMA", "w,"), Label("PERIOD", "w.")))


def random_encoder(directory: Path) -> Path:
    """Make a BERT of MiniLM's size with random weights, and a tokenizer with made-up words. Return the directory."""
    from tokenizers import Tokenizer, models, processors
    from transformers import BertConfig, BertModel
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *(f"w{i}" for i in range(30518))]
    tokenizer = Tokenizer(models.WordLevel({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]",
                                                             special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    tokenizer.save(str(directory / "tokenizer.json"))
    BertModel(BertConfig(vocab_size=30522, hidden_size=384, num_hidden_layers=6, num_attention_heads=12,
                         intermediate_size=1536)).save_pretrained(directory)
    return directory


def model_of(exp: Path | None, encoder: Path) -> Any:
    if exp:
        return load(exp)
    tokenizer = EncoderTokenizer.read(encoder)
    return create("encoder", tokenizer.vocabulary, LABELS, {"encoder": str(encoder), "window": 192}, tokenizer).eval()


def seconds(work: Callable[[], Any]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--exp", type=Path)
    parser.add_argument("--encoder", type=Path)
    parser.add_argument("--words", type=int, default=20_000)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        encoder = args.encoder or (None if args.exp else random_encoder(Path(place)))
        model = model_of(args.exp, encoder)
    torch.set_num_threads(args.threads)
    rng, size = np.random.default_rng(0), model.size
    ids = rng.integers(FIRST + 1000, len(model.vocabulary), args.words - args.words % (size * args.batch) or size,
                       dtype=np.int32)
    windows = torch.from_numpy(ids.astype(np.int64)).view(-1, size).split(args.batch)
    start, end = (torch.tensor(model.encoder.spec[name]) for name in ("start", "end"))
    whole = [torch.cat([start.expand(len(rows), -1), rows - FIRST, end.expand(len(rows), -1)], 1) for rows in windows]
    data = StoreSet(ids, None, None, ["s"], np.array([0, len(ids)]))
    ways = {"transformers": lambda: [model.encoder.net(input_ids=rows) for rows in whole],
            "windows": lambda: [model.log_posteriors(model(rows, None, ())[0], rows) for rows in windows],
            "stream": lambda: log_posteriors(model, data)}
    found: dict[str, list[float]] = {name: [] for name in [*ways, "products"]}
    with torch.inference_mode():
        for _ in range(args.runs):
            for name, work in ways.items():
                found[name].append(len(ids) / seconds(work))
            begin = time.process_time(), time.perf_counter()
            rate = gflops(args.threads)
            busy = (time.process_time() - begin[0]) / (time.perf_counter() - begin[1])
            found["products"].append(rate / max(busy, 1e-9))
    weights = sum(w.numel() for name, w in model.encoder.net.named_parameters() if w.dim() == 2 and "embed" not in name)
    speeds = {name: statistics.median(values) for name, values in found.items()}
    limit = 1e9 * speeds.pop("products") / (2 * weights)
    for name, speed in speeds.items():
        print(f"{name:>12} {speed:9,.0f} pieces per processor second {speed / speeds['transformers']:7.1%} of "
              f"transformers {speed / limit:7.1%} of the limit")


if __name__ == "__main__":
    main()
