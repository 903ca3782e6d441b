"""`punc train`: train a model on a store."""

from collections.abc import Sequence
from dataclasses import fields

from punc.base.options import OptionParser
from punc.models.base import model_class, names, option_names
from punc.training.options import TrainingOptions
from punc.training.train import train


def options(model: str | None = None) -> OptionParser:
    parser = OptionParser(
        "punc train --model NAME [options] STORE-DIR EXP-DIR",
        "Trains a model on a store. A run that was stopped goes on where it was; one that was killed, at most ten "
        "minutes back; a finished run does nothing. With --model, --help also lists the options of that model.",
        "punc train --config conf/T-LSTM.conf --train-set train --dev-set dev data/store_word exp/T-LSTM")
    parser.add_argument("--model", metavar="NAME", required=True, help=f"architecture: {', '.join(names())}")
    if model:
        parser.add_signature(model_class(model))
    parser.add_signature(TrainingOptions)
    parser.add_argument("store", metavar="STORE-DIR", help="store to train on")
    parser.add_argument("exp", metavar="EXP-DIR", help="directory of the model")
    return parser


def main(arguments: Sequence[str]) -> None:
    # The model decides which options there are, so its name is read first.
    model = options().value(arguments, "--model")
    args = vars(options(model).parse(arguments))
    model_options = {name: args[name] for name in (option_names(model) if model else ())}
    training = TrainingOptions(**{field.name: args[field.name] for field in fields(TrainingOptions)})
    train(args["store"], args["exp"], args["model"], model_options, training)
