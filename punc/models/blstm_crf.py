"""BLSTM-CRF: Bansal 2019, "Punctuation and Capitalization Restoration using Bi-LSTM Network", section 3.

A word w is its vector beside the final states of a BLSTM over its characters c_1 … c_p; a BLSTM (one layer or two)
reads the words of a text; its states score the labels for a linear-chain CRF, equations (1) to (9) (punc.layers.crf):

    x_t = [v(w_t), →LSTM(c_1 … c_p), ←LSTM(c_p … c_1)]
    h_t = [→LSTM(x_1 … x_t), ←LSTM(x_m … x_t)]
    s_t = W h_t + b;  P(y) = exp(b[y_1] + Σ s_t[y_t] + Σ T[y_t, y_t+1] + e[y_m]) / Z

The paper's vectors have 300 numbers and are GloVe's, "all the embeddings will be fine-tuned", and dropout is before and
after the BLSTM. It gives no other size, nor rate, optimiser or batch.

Decoding takes the most probable sequence of labels, (3) and (4). A slot's posterior is its marginal: choosing by these
is right in most slots, where the best sequence is right as a whole most often (`punc punctuate --viterbi false`).
"""

import torch
from torch import Tensor, nn

from punc.base.errors import InputError
from punc.layers.crf import LinearChain
from punc.layers.lstm_stack import BidirectionalStack, with_ends
from punc.layers.spelling import Spelling
from punc.layers.window import WordVectors
from punc.models.base import NeuralModel, State
from punc.tokens.store import END, UNK
from punc.tokens.vocabulary import Vocabulary


class Model(NeuralModel):
    """BLSTM-CRF.

    vectors               file of word vectors in GloVe's or word2vec's text format; empty: they begin random
    train_vectors         whether vectors of a file are trained too
    embedding_dim         numbers of a word's vector
    characters            whether a word's characters are read too
    alphabet              characters that have a vector of their own, the most frequent ones; others share one
    character_dim         numbers of a character's vector
    character_hidden_dim  units of the LSTM over characters in each direction
    layers                LSTM layers over words
    hidden_dim            units of each of them in each direction
    dropout               part left out in training before and after each LSTM layer over words
    unknown               part of the words that are read as <unk> in training, so that its vector is learned
    crf                   whether a CRF is on top, which knows neighbouring labels; else softmax

    `forward` returns the scores of labels, with the CRF's scores of a text's beginning and end added.

    A word that is not in the vocabulary is `<unk>`: only its number is known, so its characters are not, and what
    `<unk>` means is learned from words that `unknown` hides and from those too rare for the vocabulary. Words of the
    vocabulary that the training text lacks, as of a file of vectors (`punc make-store --vocab`), have vector and
    characters.
    """

    def __init__(self, vocab: int, labels: int, vectors: str = "", train_vectors: bool = True, embedding_dim: int = 300,
                 characters: bool = True, alphabet: int = 256, character_dim: int = 50,
                 character_hidden_dim: int = 50, layers: int = 2, hidden_dim: int = 200, dropout: float = 0.5,
                 unknown: float = 0.005, crf: bool = True):
        super().__init__()
        if not 0 <= unknown < 1:
            raise InputError(f"--unknown={unknown}", "it is at least 0 and less than 1")
        self.unknown = unknown
        self.vectors = WordVectors(vocab, embedding_dim, vectors, train_vectors)
        self.spelling = Spelling(vocab, alphabet, character_dim, character_hidden_dim) if characters else None
        inputs = embedding_dim + (self.spelling.size if characters else 0)
        self.lstms = BidirectionalStack(inputs, hidden_dim, layers, dropout)
        self.output = nn.Linear(2 * hidden_dim, labels)
        self.chain = LinearChain(labels) if crf else None

    def initialize_from_vocabulary(self, vocabulary: Vocabulary) -> None:
        self.vectors.fill(vocabulary)
        if self.spelling:
            self.spelling.fill(vocabulary)

    def forward(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        line, lengths = with_ends(tokens)  # words, (B,)
        if self.training and self.unknown:
            hidden = (torch.rand(line.shape, device=line.device) < self.unknown) & (line != END)
            line = line.masked_fill(hidden, UNK)
        inputs = self.vectors(line)
        if self.spelling:
            inputs = torch.cat([inputs, self.spelling(line)], dim=2)
        scores = self.output(self.lstms(inputs, lengths + 1)[:, :-1])  # (B, T, L)
        if self.chain:
            scores = self.chain.scores(scores, lengths)
        return scores, ()

    @property
    def sequential(self) -> bool:
        return self.chain is not None

    def log_posteriors(self, logits: Tensor, tokens: Tensor) -> Tensor:
        if not self.chain:
            return super().log_posteriors(logits, tokens)
        return self.chain.log_marginals(logits, with_ends(tokens)[1])

    def best_sequence(self, logits: Tensor, tokens: Tensor) -> Tensor:
        return self.chain.viterbi(logits, with_ends(tokens)[1])

    def loss(self, logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
        """−log P of the labels of all slots per slot; weights of labels have no meaning in P of a whole sequence."""
        if not self.chain:
            return super().loss(logits, labels, weights)
        if weights is not None:
            raise InputError("--class-weights with a CRF, whose loss is of whole sequences of labels",
                             "leave one of them out: --crf false")
        return self.chain.loss(logits, labels)
