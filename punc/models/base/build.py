"""Finds architectures and their options by name, and makes new models."""

import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from punc.base.errors import InputError, check_at_least
from punc.base.options import keyword_arguments, nearest
from punc.data.labels import LabelSet
from punc.models.base.model import Model
from punc.tokens.tokenizer import Tokenizer
from punc.tokens.tokenizers.word import WordTokenizer
from punc.tokens.vocabulary import Vocabulary

# Endings of options that are sizes of layers, or their number. They must be at least 1, unless their default is 0.
SIZES = ("_dim", "layers", "filters")
# Former options that are now constants. A saved model may still contain such an option, which is ignored if its value
# is listed here. The model then works as before. But if the value changed the sizes of its weights, the model cannot be
# loaded.
FORMER: dict[str, tuple[Any, ...]] = {
    "alphabet": (256,), "attention_dim": (64,), "character_dim": (50,), "character_hidden_dim": (50,),
    "cluster_bits": ("4,6,10,20",), "cnn_dropout": (0.2,), "embedding_dropout": (0.1,), "heights": (4,), "kernel": (3,),
    "layer_decay": (1.0,), "max_filters": (300,), "min_count": (2,), "next_piece": (False,), "recompute": (False, True),
    "shape": (True,), "shared_dropout": (True,), "suffixes": (3,), "text_rate": (0.0,), "trigger_after": (2,),
    "trigger_before": (10,), "trigger_count": (10,), "unknown_flag": (False, True), "widths": (7,), "memory": ("1G",),
    "depths": ("3,4,5,6,8,10,12",), "leaf_sizes": ("5,10,20,50,100,200",)}


def names() -> list[str]:
    """Return the names of all architectures: the modules and packages in punc/models, except `base`."""
    return sorted(m.name for m in pkgutil.iter_modules([str(Path(__file__).parents[1])]) if m.name != "base")


def model_class(name: str) -> type[Model]:
    """Return the class `Model` of the module punc.models.<name>. Raises InputError for an unknown name."""
    known = names()
    if name not in known:
        raise InputError(f"no model '{name}'", nearest(name, known))
    return importlib.import_module(f"punc.models.{name}").Model


def option_defaults(name: str) -> dict[str, Any]:
    return {option: argument.default for option, argument in keyword_arguments(model_class(name)).items()}


def build(spec: dict[str, Any]) -> Model:
    """Return a model. Its weights are random, except for submodels and pre-trained encoders that are loaded from a
    directory. Raises InputError if an option does not have the type of its default, or if a size is below 1.

    spec   contains the architecture (`model`), its `options`, the sizes of the `vocabulary` and of the set of `labels`,
           and the `token_type`; the option of a submodel contains its directory or its spec
    """
    name = spec["model"]
    constructor: Callable[..., Model] = model_class(name)
    known = option_defaults(name)
    options = {option: value for option, value in spec["options"].items()
               if option in known or value not in FORMER.get(option, ())}
    for option, default in known.items():  # PyTorch would accept some wrong types and fail only later
        kinds = {float: (float, int), str: (str, dict)}.get(type(default), type(default))
        value = options.get(option, default)
        if not isinstance(value, kinds) or isinstance(value, bool) != isinstance(default, bool):
            raise InputError(f"{option}={str(value)[:40]} of {name}", f"give a value like the default, {default!r}")
        if isinstance(value, int) and option.endswith(SIZES) and default:
            check_at_least(1, **{option: value})
    model = constructor(spec["vocabulary"], spec["labels"], **options)
    model.token_type = spec["token_type"]
    submodels = {option: submodel.spec for option, submodel in model.submodels.items()}
    model.spec = {**spec, "options": {**options, **submodels, **model.kept_options}}
    return model


def create(name: str, vocabulary: Vocabulary, labels: LabelSet, options: dict[str, Any],
           tokenizer: Tokenizer | None = None) -> Model:
    """Return a new model. Its weights are random, except for those that its options take from files: word vectors and
    trained models. Without a tokenizer, each word is a token. Raises InputError if the model cannot read the
    tokenizer's type of token, a submodel has a different vocabulary, or an option is unknown or has an invalid value.
    """
    tokenizer = tokenizer or WordTokenizer(vocabulary)
    token_type, token_types = tokenizer.token_type, model_class(name).token_types
    if token_types and token_type not in token_types:
        raise InputError(f"{name} reads {' or '.join(token_types)} tokens, but the store has {token_type} tokens",
                         f"make a store with --token-type={token_types[0]}")
    known = option_defaults(name)
    if unknown := set(options).difference(known):
        raise InputError(f"{name} has no option '{min(unknown)}'", nearest(min(unknown), known))
    model = build({"model": name, "options": options, "vocabulary": len(vocabulary), "labels": len(labels),
                   "token_type": token_type})
    model.vocabulary, model.labels, model.tokenizer = vocabulary, labels, tokenizer
    model.initialize_from_vocabulary(vocabulary)
    for option, submodel in model.submodels.items():
        if (submodel.vocabulary.tokens, submodel.token_type) != (vocabulary.tokens, token_type):
            kind = "" if submodel.token_type == "word" else f" --token-type={submodel.token_type}"
            raise InputError(f"the vocabulary of {option}={options[option]} differs from that of the store",
                             f"make the store with the vocabulary of that model: punc make-store "
                             f"--vocab={options[option]}/vocab{kind}")
    return model
