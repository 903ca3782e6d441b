"""The options of training, and the conf that is saved with a model."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from punc.base.errors import InputError, StrPath, check_at_least, check_choice, check_probability
from punc.base.options import kebab
from punc.base.processor import check_device
from punc.training.optim import OPTIMIZERS

BATCHINGS = ("auto", "stateful", "chunks")
SCHEDULES = ("halving", "linear")
LOSSES = ("slots", "tokens")
LSTM_WEIGHTS = ("uniform", "orthogonal")
GROUPS = {
    "data": ("train_set", "dev_set", "batching", "batch_size", "bptt", "chunk_size", "context", "loss_on"),
    "learning": ("optimizer", "learning_rate", "epsilon", "weight_decay", "max_grad_norm", "epochs", "parts",
                 "schedule", "warmup", "min_improvement", "initial_model", "initial_share", "lstm_weights"),
    "a teacher, or simulated recognition errors": ("teacher", "teacher_weight", "asr_noise", "asr_noise_share",
                                                   "asr_noise_draws", "confusions"),
    "running": ("seed", "threads", "device", "bfloat16"),
}


@dataclass(frozen=True)
class TrainingOptions:
    """How a model is trained. The module `batching` describes stateful training and chunks. Raises InputError for an
    invalid value.
    train_set        set of the store to train on; models not trained by gradient accept several, separated by commas
    dev_set          set of the store whose loss decides which epoch is kept and (halving) when the rate is halved
    batching         stateful, chunks, or auto: chunks for models that read whole streams, stateful for others
    batch_size       number of rows (stateful) or chunks (chunks) in a batch
    bptt             stateful: number of steps in a batch, which is also the length of back-propagation through time
    chunk_size       chunks: number of slots in a chunk
    context          chunks: number of slots that are read, but not scored, before each chunk; models that read whole
                     streams also read as many after it
    optimizer        adagrad, adam, adamw or sgd
    learning_rate    learning rate at the start
    epsilon          added to the denominators of AdaGrad and Adam
    weight_decay     weight decay of dense weights
    max_grad_norm    maximum norm of the gradient; 0: no limit
    loss_on          slots; or tokens: tokens without a slot, such as characters inside a word, get the first label
    teacher          directory of soft targets (punc soft-targets) that the student learns in addition to the labels
    teacher_weight   weight of the soft targets in the loss, from 0 to 1; 1: the labels do not count
    bfloat16         compute matrix products in bfloat16, if the processor supports it
    epochs           maximum number of epochs; a linear schedule uses all of them
    parts            number of epochs for one reading of the training set: each epoch reads one part, which is a random
                     part of the chunks or (stateful) the next part of each row, starting from a fresh state
    asr_noise        word error rate of simulated ASR errors; each reading of the training set has new errors; 0: none
    asr_noise_share  share of the text that gets errors, in different stretches for each reading of the training set
    asr_noise_draws  number of replacements drawn for each wrong word; the one that fits best into the text is used
    confusions       file of `punc confusions` from which the errors are drawn
    initial_model    model with the same architecture, vocabulary, labels and sizes, whose weights are the initial
                     weights: the name of a bundled model, or a directory
    initial_share    each weight of the finished model is this share of its initial value plus the rest of its trained
                     value; 0: the trained value (Wortsman et al. 2022, Robust fine-tuning of zero-shot models)
    lstm_weights     initial weights of LSTM layers: uniform, as in PyTorch; orthogonal, as in Keras (layers.lstm_stack)
    schedule         how the learning rate falls: halving, by the dev loss; or linear, to 0 over all epochs
    warmup           number of epochs, such as 0.1, during which the learning rate rises from 0
    min_improvement  halving: relative fall of the dev loss below which the rate is halved
    seed             seed of all random numbers, such as the initial weights and the order of chunks
    threads          threads of PyTorch; a different number gives slightly different weights; 0: one for each core
    device           auto, cpu, cuda or cuda:N; auto: a GPU if PyTorch sees one
    """

    train_set: str = "train"
    dev_set: str = "dev"
    batching: str = "auto"
    batch_size: int = 100
    bptt: int = 5
    chunk_size: int = 256
    context: int = 32
    optimizer: str = "adagrad"
    learning_rate: float = 0.1
    epsilon: float = 1e-10
    weight_decay: float = 0.0
    max_grad_norm: float = 0.0
    loss_on: str = "slots"
    teacher: str = ""
    teacher_weight: float = 0.5
    bfloat16: bool = False
    epochs: int = 20
    parts: int = 1
    asr_noise: float = 0.0
    asr_noise_share: float = 1.0
    asr_noise_draws: int = 1
    confusions: str = ""
    initial_model: str = ""
    initial_share: float = 0.0
    lstm_weights: str = "uniform"
    schedule: str = "halving"
    warmup: float = 0.0
    min_improvement: float = 0.003
    seed: int = 1
    threads: int = 1
    device: str = "auto"

    def __post_init__(self) -> None:
        for name, choices in (("batching", BATCHINGS), ("optimizer", OPTIMIZERS), ("schedule", SCHEDULES),
                              ("loss_on", LOSSES), ("lstm_weights", LSTM_WEIGHTS)):
            check_choice(choices, **{kebab(name): getattr(self, name)})
        for name in ("batch_size", "bptt", "chunk_size", "epochs", "parts", "asr_noise_draws"):
            check_at_least(1, **{kebab(name): getattr(self, name)})
        for name in ("context", "learning_rate", "epsilon", "weight_decay", "max_grad_norm", "warmup",
                     "min_improvement", "threads"):
            check_at_least(0, **{kebab(name): getattr(self, name)})
        for name in ("learning_rate", "epsilon"):
            if self.optimizer.startswith("adam") and not getattr(self, name):  # PyTorch's SparseAdam refuses 0
                raise InputError(f"{kebab(name)}=0 with --optimizer={self.optimizer}", "give a number above 0")
        if not 0 <= self.seed < 1 << 32:
            raise InputError(f"--seed={self.seed} is out of range", f"give a number from 0 to {(1 << 32) - 1}")
        if not 0 <= self.teacher_weight <= 1:
            raise InputError(f"--teacher-weight={self.teacher_weight} is out of range", "give a number from 0 to 1")
        check_probability(**{kebab(name): getattr(self, name) for name in ("asr_noise", "initial_share")})
        if self.initial_share and not self.initial_model:
            raise InputError(f"--initial-share={self.initial_share:g} without --initial-model",
                             "give the model whose weights are mixed with the trained weights")
        if bool(self.asr_noise) != bool(self.confusions):
            raise InputError(f"--asr-noise={self.asr_noise:g} with --confusions='{self.confusions}'",
                             "give both: a word error rate, and a file of punc confusions")
        if not 0 < self.asr_noise_share <= 1 or (self.asr_noise_share < 1 and not self.asr_noise):
            raise InputError(f"--asr-noise-share={self.asr_noise_share:g} with --asr-noise={self.asr_noise:g}",
                             "the share must be above 0 and at most 1, with --asr-noise")
        if self.asr_noise and self.teacher:
            raise InputError("--asr-noise cannot be combined with --teacher",
                             "leave one out, because a teacher reads the words without errors")
        check_device(self.device)


# The options that may be set for models that are not trained by gradient.
NON_GRADIENT = ("train_set", "dev_set", "seed", "threads", "device")


def check_non_gradient(model: str, options: TrainingOptions) -> None:
    """Raise InputError if an option that applies only to training by gradient does not have its default value."""
    defaults = asdict(TrainingOptions())
    for name, value in asdict(options).items():
        if name not in NON_GRADIENT and value != defaults[name]:
            raise InputError(f"{kebab(name)}={value}, but {model} is not trained by gradient", "leave the option out")


def run_conf(model: str, model_options: Mapping[str, Any], options: TrainingOptions,
             store_dir: StrPath) -> dict[str, Any]:
    """Return all settings on which a trained model depends."""
    return {"model": model, **model_options, **asdict(options), "store": os.fspath(store_dir)}
