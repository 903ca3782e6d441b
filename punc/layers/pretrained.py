"""Reads pre-trained encoders of the package `transformers` from a local Hugging Face directory.

Nothing is downloaded, and no code in the directory is run. A trained model contains a copy of the encoder's
configuration and weights.
"""

import logging
import os
import re
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from punc.base.errors import InputError
from punc.tokens.tokenizers.encoder import FIRST
from punc.tokens.vocabulary import END

KINDS = ("bert", "roberta", "electra", "deberta", "deberta-v2", "xlm-roberta", "modernbert", "mpnet")
WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
DROPOUT = ("hidden_dropout_prob", "mlp_dropout", "embedding_dropout")  # names of dropout rates in configurations
ATTENTION_DROPOUT = ("attention_probs_dropout_prob", "attention_dropout")
LAYER = re.compile(r"\blayers?\.(\d+)\.")  # finds the number of the layer in the name of a weight
# Finds the weights that `freeze` counts as embeddings, among them the attention bias that all layers of MPNet share.
EMBEDDINGS = re.compile(r"embeddings\.|\brelative_attention_bias\.")
OWN_MASK = ("deberta", "deberta-v2", "modernbert")  # kinds that compute attention masks themselves, from a mask (B, S)
LEFT_OUT = ("auto_map", "architectures", "_name_or_path", "dtype", "torch_dtype")  # entries of config.json to ignore
UNUSED = {"roberta": 2, "xlm-roberta": 2, "mpnet": 2}  # kind → the number of position embeddings that stay unused


class PretrainedEncoder(nn.Module):
    """A pre-trained encoder. `source` is the encoder's directory or, in a trained model, the encoder's `spec`. `start`
    and `end` are the ids of the special pieces before and after a text. Raises InputError if the encoder cannot be
    used, for example because it is of none of the KINDS, and ModuleNotFoundError if `transformers` is not installed."""

    def __init__(self, source: str | dict[str, Any], start: list[int], end: list[int], dropout: float,
                 attention_dropout: float):
        super().__init__()
        given = _config(source) if isinstance(source, str) else source["config"]
        if given.get("model_type") not in KINDS:
            raise InputError(f"encoders of the kind {given.get('model_type')} are not supported",
                             f"choose from {', '.join(KINDS)}",
                             Path(source) / "config.json" if isinstance(source, str) else None)
        config = _transformers().AutoConfig.for_model(**given)
        for names, rate in ((DROPOUT, dropout), (ATTENTION_DROPOUT, attention_dropout)):
            for name in names:
                if hasattr(config, name):
                    setattr(config, name, rate)
        if isinstance(source, str):
            self.net = _pretrained(Path(source), config)
        else:
            self.net = _transformers().AutoModel.from_config(config, trust_remote_code=False)
        if hasattr(self.net, "pooler"):
            self.net.pooler = None  # the pooler computes a vector of the complete text, which is not needed
        if not all(type(piece) is int and 0 <= piece < self.pieces for piece in (*start, *end)):
            raise InputError("the tokenizer has special pieces that the encoder does not have",
                             "use the tokenizer.json of the encoder")
        self.spec = {"config": given, "start": start, "end": end}
        self.pad = config.pad_token_id or 0
        self.size = config.hidden_size
        # The maximum length of a text in pieces, including special pieces.
        self.most = config.max_position_embeddings - UNUSED.get(config.model_type, 0)

    @property
    def pieces(self) -> int:
        """The number of pieces for which the encoder has a vector."""
        return self.net.get_input_embeddings().num_embeddings

    def freeze(self, layers: int) -> None:
        """Exclude the embeddings and the first `layers` layers from training. If `layers` is 0, train all weights."""
        for name, weight in self.net.named_parameters():
            layer, embedding = LAYER.search(name), EMBEDDINGS.search(name)
            if layers and (embedding if layer is None else int(layer[1]) < layers):
                weight.requires_grad_(False)

    def forward(self, tokens: Tensor, more: Tensor | None = None) -> Tensor:
        """Return the vectors (B, T, size) of tokens (B, T). Past the end of a text, the tokens must be END. Adds `more`
        to the tokens' embeddings. T plus the number of special pieces around a text must be at most `most`."""
        line, mask = self._line(tokens)
        return self._read(line, more, None if bool(mask.all()) else mask)[:, :tokens.shape[1]]

    def traceable(self, tokens: Tensor, more: Tensor | None = None) -> Tensor:
        """Return the same as `forward`, but use only operations that an exporter can trace."""
        line, mask = self._line(tokens)
        if self.net.config.model_type not in OWN_MASK:
            hidden = (1.0 - mask.float())[:, None, None, :] * torch.finfo(torch.float32).min  # (B, 1, 1, S)
            mask = hidden.expand(-1, -1, line.shape[1], -1)
        return self._read(line, more, mask)[:, :tokens.shape[1]]

    def _read(self, line: Tensor, more: Tensor | None, mask: Tensor | None) -> Tensor:
        """Return the vectors of the pieces (B, S), leaving out the special pieces before the text."""
        before, after = len(self.spec["start"]), len(self.spec["end"])
        given: dict[str, Any] = {"input_ids": line}
        if more is not None:
            vectors = self.net.get_input_embeddings()(line)
            given = {"inputs_embeds": vectors + nn.functional.pad(more, (0, 0, before, after))}
        return self.net(**given, attention_mask=mask).last_hidden_state[:, before:]

    def _line(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Return the pieces (B, S) of tokens (B, T), with special pieces added, and a mask (B, S) that is 0 for
        padding."""
        start, end = self.spec["start"], self.spec["end"]
        lengths = (tokens != END).sum(1, keepdim=True)  # (B, 1)
        line = nn.functional.pad((tokens - FIRST).clamp_min(0), (len(start), len(end)), value=self.pad)  # (B, S)
        places = torch.arange(line.shape[1], device=tokens.device).unsqueeze(0) - len(start)  # (1, S)
        line = torch.where(places >= lengths, self.pad, line)
        for i, piece in enumerate(start):
            line = torch.where(places == i - len(start), piece, line)
        for i, piece in enumerate(end):
            line = torch.where(places == lengths + i, piece, line)
        return line, (places < lengths + len(end)).long()


def _transformers() -> Any:
    os.environ["HF_HUB_OFFLINE"] = "1"
    import transformers
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
    logging.getLogger("transformers").setLevel(logging.ERROR)
    return transformers


def _config(directory: str) -> dict[str, Any]:
    """Return the configuration in an encoder's directory, without the entries LEFT_OUT. Some of these refer to code."""
    path = Path(directory)
    if not (path / "config.json").is_file():
        raise InputError(f"encoder={directory} is not the directory of an encoder",
                         "give one with config.json, model.safetensors and tokenizer.json")
    try:
        found = _transformers().PretrainedConfig.get_config_dict(path, local_files_only=True)[0]
        return {name: value for name, value in found.items() if name not in LEFT_OUT}
    except (OSError, ValueError):
        raise InputError("not the configuration of an encoder", "give another directory",
                         path / "config.json") from None


def _pretrained(directory: Path, config: Any) -> Any:
    if not any((directory / name).is_file() for name in WEIGHTS):
        raise InputError(f"no {WEIGHTS[0]}", "save the encoder's weights as safetensors, which run no code", directory)
    try:
        net, report = _transformers().AutoModel.from_pretrained(
            directory, config=config, local_files_only=True, trust_remote_code=False, use_safetensors=True,
            dtype=torch.float32, output_loading_info=True)
    except Exception:  # various exceptions: files may be truncated, or have wrong sizes
        raise InputError("its weights do not fit its config.json", "copy it again", directory) from None
    if missing := sorted(name for name in report["missing_keys"] if not name.startswith("pooler.")):
        raise InputError(f"no weights for {missing[0]}", "copy the directory again", directory)
    return net
