"""The common interface of all models, and functions that make, save and load models."""

from punc.models.base.build import build, create, model_class, names, option_defaults
from punc.models.base.context import ContextModel, LSTMModel, WindowModel
from punc.models.base.files import FORMAT, cpu_weights, load, not_finite, read_checkpoint, rebuild, save, submodel
from punc.models.base.model import Model, NeuralModel, NonGradientModel, State, initialize

__all__ = ["FORMAT", "ContextModel", "LSTMModel", "Model", "NeuralModel", "NonGradientModel", "State", "WindowModel",
           "build", "cpu_weights", "create", "initialize", "load", "model_class", "names", "not_finite",
           "option_defaults", "read_checkpoint", "rebuild", "save", "submodel"]
