"""`punc train`: train a model on a store."""

from collections.abc import Sequence

from punc.base.options import OptionParser
from punc.models.base import model_class, names, option_names
from punc.training.train import train


def options(model: str | None = None) -> OptionParser:
    parser = OptionParser(
        "punc train --model NAME [options] STORE-DIR EXP-DIR",
        "Trains a model on a store. Run again, it goes on from its last whole epoch; finished, it does nothing. "
        "With --model, --help lists the options of that model too.",
        "punc train --config conf/T-LSTM.conf --train-set train --dev-set dev data/store_word exp/T-LSTM")
    parser.add_argument("--model", metavar="NAME", required=True, help=f"architecture: {', '.join(names())}")
    if model:
        parser.add_signature(model_class(model))
    parser.add_signature(train)
    parser.add_argument("store", metavar="STORE-DIR", help="store to train on")
    parser.add_argument("exp", metavar="EXP-DIR", help="directory of the model")
    return parser


def main(arguments: Sequence[str]) -> None:
    # The model decides which options there are, so it is looked for first.
    model = options().value(arguments, "--model")
    args = vars(options(model).parse(arguments))
    model_options = {name: args[name] for name in (option_names(model) if model else ())}
    settings = {name: args[name] for name in train.__kwdefaults__}
    train(args["store"], args["exp"], args["model"], model_options, **settings)
