"""BLSTM-CRF: Bansal 2019, "Punctuation and Capitalization Restoration using Bi-LSTM Network", section 3.

Each word w is represented by its vector and by the final states of a BLSTM over its characters c_1 … c_p. A BLSTM of
one or two layers reads the words of a text. From its states h, a linear layer computes a score s for each label of each
word. A linear-chain CRF (layers.crf) adds the scores b of the first label, T of pairs of neighbouring labels, and e of
the last label (equations (1) to (9); the paper calls the bias a of the linear layer b, too):

    x_t = [v(w_t), →LSTM(c_1 … c_p), ←LSTM(c_p … c_1)]
    h_t = [→LSTM(x_1 … x_t), ←LSTM(x_m … x_t)]
    s_t = W h_t + a;  P(y) = exp(b[y_1] + Σ s_t[y_t] + Σ T[y_t, y_t+1] + e[y_m]) / Z

The paper uses GloVe vectors of size 300 ("all the embeddings will be fine-tuned") and dropout before and after the
BLSTM. It does not give the other sizes, the learning rate, the optimizer or the batch size.

Decoding chooses the most probable label sequence, equations (3) and (4). The posterior of a label in a slot is its
marginal probability.
"""

from typing import Any

import torch
from torch import Tensor, nn

from punc.base.errors import InputError, check_probability
from punc.layers.crf import LinearChain, viterbi_steps
from punc.layers.lstm_stack import BidirectionalStack, with_ends
from punc.layers.pauses import PauseInput
from punc.layers.spelling import Spelling
from punc.layers.window import WordVectors
from punc.models.base import NeuralModel, State
from punc.tokens.tokenizers.spelled import SpelledTokenizer
from punc.tokens.vocabulary import END, UNK, Vocabulary

ALPHABET = 256  # the number of frequent characters that have their own vectors; rare characters share one vector
CHARACTER_DIM = 50  # the size of a character's vector
CHARACTER_HIDDEN_DIM = 50  # units of the LSTM over characters in each direction


class Model(NeuralModel):
    """BLSTM-CRF.

    vectors               file of word vectors in GloVe's or word2vec's text format; empty: random vectors
    train_vectors         train the vectors even if they come from a file
    embedding_dim         size of a word vector
    characters            also read the characters of words
    layers                number of LSTM layers over words
    hidden_dim            units of each LSTM layer over words in each direction
    dropout               dropout rate before and after each LSTM layer over words
    unknown               share of words that are read as <unk> in training, so that the vector of <unk> is learned
    crf                   score label sequences with a CRF; false: softmax for each slot
    speaker_changes       read whether the speaker changes after a word, if the data has turns (not in the paper)

    `forward` returns label scores that include the CRF's start and end scores, b and e.

    A word outside the vocabulary gets the vector of `<unk>`. In a store made with `--token-type spelled`, the
    characters of such a word come before its `<unk>` as separate tokens, which the BLSTM over characters reads. They
    have no slot, so the LSTMs over words and the CRF skip them. With `punc make-store --vocab`, the vocabulary can also
    include words that are not in the training text, such as all words of a vector file.
    """

    def __init__(self, vocab: int, labels: int, vectors: str = "", train_vectors: bool = True, embedding_dim: int = 300,
                 characters: bool = True, layers: int = 2, hidden_dim: int = 200, dropout: float = 0.5,
                 unknown: float = 0.005, crf: bool = True, speaker_changes: bool = False):
        super().__init__()
        check_probability(unknown=unknown)
        self.unknown = unknown
        self.vectors = WordVectors(vocab, embedding_dim, vectors, train_vectors)
        self.spelling = Spelling(vocab, ALPHABET, CHARACTER_DIM, CHARACTER_HIDDEN_DIM) if characters else None
        self.turns = PauseInput(False, True) if speaker_changes else None
        self.reads_turns = speaker_changes
        inputs = embedding_dim + (self.spelling.size if self.spelling else 0) + speaker_changes
        self.lstms = BidirectionalStack(inputs, hidden_dim, layers, dropout)
        self.output = nn.Linear(2 * hidden_dim, labels)
        self.chain = LinearChain(labels) if crf else None
        self.sequential = crf

    def initialize_from_vocabulary(self, vocabulary: Vocabulary) -> None:
        self.vectors.initialize_from_vocabulary(vocabulary)
        if self.spelling:
            self.spelling.initialize_from_vocabulary(vocabulary, self.characters_from)

    @property
    def characters_from(self) -> int | None:
        """The id of the first token that is a character, or None if all tokens are words."""
        if self.token_type != SpelledTokenizer.token_type:
            return None
        assert isinstance(self.tokenizer, SpelledTokenizer)
        return self.tokenizer.first_character

    def forward(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        turns = self.turns(pauses, tokens).transpose(0, 1) if self.turns else None  # (B, T, 1)
        words, indices = self._words(tokens)
        if indices is None:
            return self._scores(words, None, None, turns), ()
        turns = None if turns is None else turns.gather(1, indices.unsqueeze(2))
        scores = self._scores(words, tokens, indices, turns)
        return scores.new_zeros(*tokens.shape, scores.shape[2]).scatter(1, expanded(indices, scores), scores), ()

    def _words(self, tokens: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return the words (B, W) among the tokens (B, T), padded with END, and their indices (B, W) in the tokens. If
        all tokens are words, returns `tokens` and None."""
        if self.characters_from is None:
            return tokens, None
        is_character = tokens >= self.characters_from
        longest = int((~is_character).sum(1).max()) if tokens.numel() else 0
        indices = is_character.long().argsort(dim=1, stable=True)[:, :longest]
        return tokens.masked_fill(is_character, END).gather(1, indices), indices

    def traceable(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        if self.characters_from is not None:
            raise InputError("characters as tokens cannot be exported", "train the model on a store of words")
        line, lengths = with_ends(tokens)
        inputs = self.vectors(line)
        if self.spelling:
            inputs = torch.cat([inputs, self.spelling.traceable(line)], dim=2)
        scores = self.output(self.lstms(inputs, lengths + 1)[:, :-1])
        return self.chain.scores(scores, lengths) if self.chain else scores, ()

    def traceable_best(self, logits: Tensor, tokens: Tensor) -> Tensor:
        assert self.chain, "not sequential"
        loops: Any = torch.jit.script(viterbi_steps)  # the exporter would unroll unscripted loops
        return loops(logits, self.chain.transitions, with_ends(tokens)[1])

    def _scores(self, words: Tensor, tokens: Tensor | None, indices: Tensor | None, turns: Tensor | None) -> Tensor:
        """Return the label scores (B, W, L) of words (B, W). `indices` (B, W): the words' indices in `tokens` (B, T).
        If all tokens are words, `tokens` and `indices` are None. `turns` (B, W, 1): 1 if the next word has a different
        speaker."""
        line, lengths = with_ends(words)  # (B, T + 1), (B,)
        shown = line
        if self.training and self.unknown:
            hidden = (torch.rand(line.shape, device=line.device) < self.unknown) & (line != END)
            line = line.masked_fill(hidden, UNK)
        inputs = self.vectors(line)
        if self.spelling and tokens is not None and indices is not None and self.characters_from is not None:
            spelled = self.spelling(shown)  # a hidden word keeps its characters
            rows, columns = (words == UNK).nonzero(as_tuple=True)
            if len(rows):
                vectors = self.spelling.read_spelled(tokens, rows, indices[rows, columns], self.characters_from)
                spelled = spelled.index_put((rows, columns), vectors.to(spelled.dtype))
            inputs = torch.cat([inputs, spelled], dim=2)
        elif self.spelling:
            inputs = torch.cat([inputs, self.spelling(line)], dim=2)
        if turns is not None:
            inputs = torch.cat([inputs, nn.functional.pad(turns, (0, 0, 0, 1))], dim=2)  # END has no turn
        scores = self.output(self.lstms(inputs, lengths + 1)[:, :-1])  # (B, T, L)
        return self.chain.scores(scores, lengths) if self.chain else scores

    def log_posteriors(self, logits: Tensor, tokens: Tensor) -> Tensor:
        if not self.chain:
            return super().log_posteriors(logits, tokens)
        words, indices = self._words(tokens)
        lengths = with_ends(words)[1]
        if indices is None:
            return self.chain.log_marginals(logits, lengths)
        columns = expanded(indices, logits)
        found = self.chain.log_marginals(logits.gather(1, columns), lengths)
        return logits.log_softmax(2).scatter(1, columns, found)

    def best_sequence(self, logits: Tensor, tokens: Tensor) -> Tensor:
        assert self.chain, "not sequential"
        words, indices = self._words(tokens)
        lengths = with_ends(words)[1]
        if indices is None:
            return self.chain.viterbi(logits, lengths)
        found = self.chain.viterbi(logits.gather(1, expanded(indices, logits)), lengths)
        return torch.zeros_like(tokens).scatter(1, indices, found.clamp_min(0))

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return −log P of the label sequences, summed over all texts and divided by the number of slots. Without the
        CRF, returns the mean cross-entropy."""
        if not self.chain:
            return super().loss(logits, labels)
        logits, labels = self._words_alone(labels, logits)
        return self.chain.loss(logits, labels)

    def soft_loss(self, logits: Tensor, targets: Tensor, labels: Tensor) -> Tensor:
        """Return the cross-entropy over label sequences, summed over all texts and divided by the number of slots.
        Treats the distributions `targets` (B, T, L) of different slots as independent."""
        if not self.chain:
            return super().soft_loss(logits, targets, labels)
        logits, targets, labels = self._words_alone(labels, logits, targets)
        return self.chain.soft_loss(logits, targets, labels)

    def _words_alone(self, labels: Tensor, *values: Tensor) -> tuple[Tensor, ...]:
        """Return values (B, T, L) and labels (B, T) in which those of characters are moved to the end of each row,
        because characters are not part of the CRF's chain."""
        if self.characters_from is None:
            return *values, labels
        indices = (labels < 0).long().argsort(dim=1, stable=True)
        return *(value.gather(1, expanded(indices, value)) for value in values), labels.gather(1, indices)


def expanded(indices: Tensor, values: Tensor) -> Tensor:
    """Repeat indices (B, W) for each of the L labels of values (B, T, L). Returns (B, W, L)."""
    return indices.unsqueeze(2).expand(-1, -1, values.shape[2])
