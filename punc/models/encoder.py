"""A pre-trained encoder that is fine-tuned with a linear output layer (Devlin et al. 2019, BERT, section 5.3).

    h_1 … h_n = encoder(piece_1 … piece_n);  y(t) = softmax(W h_e(t) + b)

e(t) is the index of the last piece of the word before slot t. In 2020, a fine-tuned encoder was the best system on
IWSLT 2011 (Courtland, Faulkner & McElvain 2020, "Efficient Automatic Punctuation Restoration Using Bidirectional
Transformers with Robust Inference").

With `pauses`, one vector for the pause in a slot (layers.pauses) is added to the embedding of the piece before the
slot, and another vector is added to the logits.

Long texts are read in overlapping windows of `size` pieces; `size` is `window` minus the number of special pieces. The
last window ends with the text. Each other window begins `size` − 2 `overlap` pieces after the start of the previous
window. The output for a piece comes from a window that contains at least `overlap` pieces on each side of it, or all
pieces up to the start or end of the text.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from punc.base.errors import InputError, check_at_least, check_probability
from punc.layers.lstm_stack import Dropout
from punc.layers.pauses import PauseVectors
from punc.layers.pretrained import PretrainedEncoder
from punc.models.base import NeuralModel, State
from punc.tokens.tokenizers.encoder import FIRST, EncoderTokenizer
from punc.tokens.vocabulary import END, Vocabulary

AT_ONCE = 32  # the number of windows read together; more windows would need more memory, but not be faster
SLACK = 2  # the minimum number of pieces in a window, not counting overlaps and special pieces


class Model(NeuralModel):
    """A fine-tuned encoder.

    encoder            local Hugging Face directory: config.json, model.safetensors, tokenizer.json
    window             number of pieces, including special ones, that the encoder reads at once; 0: as many as it can
    overlap            number of pieces at each end of a window that serve only as context; another window labels their
                       slots
    dropout            dropout rate of hidden units
    attention_dropout  dropout rate of the attention weights; on a CPU, training with it takes 1.5 times as long
    output_rate        factor that multiplies --learning-rate for the output layer and pause vectors, which are not
                       pre-trained
    frozen_layers      do not train the embeddings and this number of layers above them; 0: train all layers
    pauses             read the pauses
    """

    token_types = ("encoder",)

    def __init__(self, vocab: int, labels: int, encoder: str | dict[str, Any] = "", window: int = 256,
                 overlap: int = 16, dropout: float = 0.1, attention_dropout: float = 0.1, output_rate: float = 1.0,
                 frozen_layers: int = 0, pauses: bool = False):
        super().__init__()
        check_probability(dropout=dropout, attention_dropout=attention_dropout)
        check_at_least(0, window=window, overlap=overlap, frozen_layers=frozen_layers, output_rate=output_rate)
        self.own_vocabulary: Vocabulary | None = None  # the vocabulary in the encoder's directory
        if isinstance(encoder, str):
            if not encoder or not Path(encoder).is_dir():
                raise InputError(f"encoder={encoder} is not a directory", "give the directory of an encoder")
            tokenizer = EncoderTokenizer.read(encoder)
            self.own_vocabulary, start, end = tokenizer.vocabulary, tokenizer.start, tokenizer.end
        else:
            start, end = encoder["start"], encoder["end"]
        self.encoder = PretrainedEncoder(encoder, start, end, dropout, attention_dropout)
        self.kept_options = {"encoder": self.encoder.spec}
        if vocab - FIRST > self.encoder.pieces:
            raise InputError(f"{vocab - FIRST} pieces, but the encoder has vectors of {self.encoder.pieces}",
                             "make the store with the encoder's own tokenizer: punc make-store --vocab DIR")
        self.size = min(window or self.encoder.most, self.encoder.most) - len(start) - len(end)
        if self.size - 2 * overlap < SLACK:
            raise InputError(f"window={window} is too small for overlap={overlap}",
                             "give a larger window, or a smaller overlap")
        self.longest = self.size
        self.overlap, self.output_rate = overlap, output_rate
        self.encoder.freeze(frozen_layers)
        self.dropout = Dropout(dropout)
        self.output = nn.Linear(self.encoder.size, labels)
        self.pause_input = PauseVectors(self.encoder.net.get_input_embeddings().embedding_dim) if pauses else None
        self.pause_output = PauseVectors(labels) if pauses else None

    def initialize_from_vocabulary(self, vocabulary: Vocabulary) -> None:
        """Raise InputError if the vocabulary does not consist of the encoder's pieces."""
        if self.own_vocabulary and self.own_vocabulary.tokens != vocabulary.tokens:
            raise InputError("the store's pieces differ from those of the encoder",
                             "make it with the encoder: punc make-store --token-type=encoder --vocab=DIR")
        self.own_vocabulary = None

    def rate_of(self, name: str) -> float:
        return 1.0 if name.startswith("encoder.") else self.output_rate

    def traceable(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        """Like `forward`, for texts of at most `size` pieces."""
        more = self.pause_input(pauses, tokens) if self.pause_input else None
        logits = self.output(self.encoder.traceable(tokens, more))
        return (logits + self.pause_output(pauses, tokens) if self.pause_output else logits), ()

    def forward(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        logits = self.output(self.dropout(self.features(tokens, pauses)))  # (B, T, L)
        return (logits + self.pause_output(pauses, tokens) if self.pause_output else logits), ()

    def features(self, tokens: Tensor, pauses: Tensor | None) -> Tensor:
        """Return the inputs (B, T, H) of the output layer, which `ta_encoder` reads too."""
        more = self.pause_input(pauses, tokens) if self.pause_input else None
        return in_windows(self.encoder, tokens, more, self.size, self.overlap)


def in_windows(read: Callable[[Tensor, Tensor | None], Tensor], tokens: Tensor, more: Tensor | None, size: int,
               overlap: int, at_once: int = AT_ONCE) -> Tensor:
    """Apply `read` to overlapping windows of texts of any length, `at_once` windows at a time. Maps tokens (B, T), and
    other inputs `more` (B, T, …), to outputs (B, T, D). `read` does the same for windows of at most `size` tokens."""
    rows, width = tokens.shape
    if width <= size:
        return read(tokens, more)
    step = size - 2 * overlap
    lengths = (tokens != END).sum(1, keepdim=True)  # (B, 1)
    counts = (lengths - 2 * overlap + step - 1).div(step, rounding_mode="floor").clamp_min(1)  # (B, 1), windows
    number = torch.arange(int(counts.max()), device=tokens.device).unsqueeze(0)  # (1, W)
    starts = torch.minimum(number * step, (lengths - size).clamp_min(0))  # (B, W)
    used = number < counts
    row = torch.arange(rows, device=tokens.device).unsqueeze(1).expand_as(used)[used]  # (N,)
    places = starts[used].unsqueeze(1) + torch.arange(size, device=tokens.device)  # (N, size)
    outputs = torch.cat([read(tokens[some, at], None if more is None else more[some, at]) for some, at in
                         zip(row.unsqueeze(1).split(at_once), places.split(at_once))])  # (N, size, D)
    slots = torch.arange(width, device=tokens.device).unsqueeze(0)  # (1, T)
    owner = (slots - overlap).div(step, rounding_mode="floor").clamp_min(0).minimum(counts - 1)  # (B, T)
    first = (counts.cumsum(0) - counts)  # (B, 1), the first window of each row
    return outputs[first + owner, (slots - starts.gather(1, owner)).clamp_max(size - 1)]
