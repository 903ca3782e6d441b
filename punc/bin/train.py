"""`punc train`: train a model on a store."""

from collections.abc import Mapping, Sequence
from typing import Any

from punc.base.options import OptionParser, from_args
from punc.models.base import model_class, names, option_defaults
from punc.training.options import GROUPS, TrainingOptions
from punc.training.train import architecture, train


def options(model: str | None = None, values: Mapping[str, Any] | None = None) -> OptionParser:
    """Return the parser, which includes the options of `model` if one is given, with `values` as their defaults."""
    parser = OptionParser(
        "punc train --model NAME [options] STORE-DIR EXP-DIR",
        "Trains a model on a store. An interrupted run continues where it stopped, and a killed run loses at most "
        "ten minutes; a finished run does nothing. With --model, --help also lists the options of that model. "
        "--initial-model also gives defaults for --model and its options.",
        "punc train --config conf/T-LSTM.conf --train-set train --dev-set dev data/store_word exp/T-LSTM")
    parser.add_argument("--model", metavar="NAME", required=model is None, default=model,
                        help=f"architecture: {', '.join(names())}")
    if model:
        parser.add_signature(model_class(model), groups={f"the model {model}": [*option_defaults(model)]})
        parser.set_defaults(**values or {})
    parser.add_signature(TrainingOptions, groups=GROUPS)
    parser.add_argument("store", metavar="STORE-DIR", help="store to train on")
    parser.add_output("exp", metavar="EXP-DIR", help="directory of the model")
    return parser


def main(arguments: Sequence[str]) -> None:
    # The model's name is read first, because the other options depend on the model.
    model, initial = (options().value(arguments, name) for name in ("--model", "--initial-model"))
    values: Mapping[str, Any] = {}
    if initial and not model:
        model, values = architecture(initial)
    args = options(model, values).parse(arguments)
    model_options = {name: getattr(args, name) for name in (option_defaults(model) if model else ())}
    train(args.store, args.exp, args.model, model_options, from_args(TrainingOptions, args))
