"""Any model, to decode with: a packed one by NumPy, a trained one by PyTorch, which is imported only then."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from punc.decoding.packed_model import PackedModel, load_packed
from punc.decoding.shipped import is_packed
from punc.tokens.store_set import StoreSet

if TYPE_CHECKING:  # it imports torch
    from punc.models.base import Model

AnyModel = Union["Model", PackedModel]


def load_model(directory: Path, device: str = "cpu", threads: int | None = 1) -> AnyModel:
    """The model of a directory, ready to punctuate. Raises InputError if it is missing or broken.

    threads   how many threads PyTorch computes with from now on; None leaves that as it is
    """
    if is_packed(directory):
        return load_packed(directory)
    import torch

    from punc.base.memory import keep_freed_memory
    from punc.models.base import load
    if threads:
        torch.set_num_threads(threads)
        keep_freed_memory()
    return load(directory).to(device)


def decode(model: AnyModel, data: StoreSet, scale: np.ndarray | None = None,
           **options: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """`decode.decode` of a trained model, or `packed.decode` of a packed one; arguments and results are the same."""
    if isinstance(model, PackedModel):
        from punc.decoding.packed import decode as decode_packed
        return decode_packed(model, data, scale, **options)
    from punc.decoding.decode import decode as decode_trained
    return decode_trained(model, data, scale, **options)
