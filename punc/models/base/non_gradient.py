"""Models that are not trained by gradient."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from punc.models.base.model import Model


class NonGradientModel(Model):
    """A model that is not trained by gradient. `arrays` is all that it knows, and what is saved.

    A subclass has `fit` and `log_posteriors_of`. The arrays of a submodel are saved too, as `<option>.<name>`.
    """

    trained_by_gradient = False
    token_types = ("word", "form")

    def __init__(self) -> None:
        super().__init__()
        self.arrays: dict[str, np.ndarray] = {}

    def prepare(self) -> None:
        """Compute from new arrays what decoding needs. Raises KeyError or ValueError if the arrays do not fit."""

    def check(self) -> None:
        """Raise ValueError if arrays that were read have indices that decoding cannot follow."""

    def state_dict(self) -> dict[str, Tensor]:  # type: ignore[override]
        own = {name: torch.from_numpy(array) for name, array in self.arrays.items()}
        return own | {f"{option}.{name}": array for option, model in self.submodels.items()
                      for name, array in model.state_dict().items()}

    def load_state_dict(self, arrays: Mapping[str, Tensor]) -> None:  # type: ignore[override]
        for option, model in self.submodels.items():
            model.load_state_dict({name.removeprefix(f"{option}."): array for name, array in arrays.items()
                                   if name.startswith(f"{option}.")})
        prefixes = tuple(f"{option}." for option in self.submodels)
        self.arrays = {name: array.numpy() for name, array in arrays.items() if not name.startswith(prefixes)}
        self.prepare()
        self.check()
