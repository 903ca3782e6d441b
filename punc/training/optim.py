"""An optimiser for models that may have embeddings with sparse gradients."""

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import nn

from punc.models.base import Model

OPTIMIZERS = ("adagrad", "adam", "adamw", "sgd")


class Optimizer:
    """Combines a PyTorch optimiser for dense weights with one for embeddings with sparse gradients. A step updates only
    those rows of such an embedding whose tokens are in the batch.

    learning_rate  learning rate; for each weight, it is multiplied by the factor that the model's `rate_of` returns
    weight_decay   weight decay of dense weights only; decay would change all rows of a sparse embedding at every step
    max_grad_norm  maximum norm of the gradient of all weights together; a larger gradient is scaled down; 0: no limit
    """

    def __init__(self, model: nn.Module, name: str, learning_rate: float, epsilon: float = 1e-10,
                 weight_decay: float = 0.0, max_grad_norm: float = 0.0):
        self._max_grad_norm = max_grad_norm
        sparse_ids = {id(m.weight) for m in model.modules() if isinstance(m, nn.Embedding) and m.sparse}
        self.weights = [w for w in model.parameters() if w.requires_grad]
        self.sparse = sparse = [w for w in self.weights if id(w) in sparse_ids]
        self.dense = dense = [w for w in self.weights if id(w) not in sparse_ids]
        torch.sparse.check_sparse_tensor_invariants.disable()  # PyTorch warns if this default is not set explicitly
        self._parts: list[torch.optim.Optimizer] = []
        eps: dict[str, Any] = {} if name == "sgd" else {"eps": epsilon}
        if dense:
            groups = _by_rate(model, dense, learning_rate)
            dense_kind = {"adagrad": torch.optim.Adagrad, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW,
                          "sgd": torch.optim.SGD}[name]
            # Some PyTorch versions that pyproject.toml allows have no fused AdaGrad on GPUs.
            fused = name != "adagrad" or dense[0].device.type == "cpu"
            self._parts.append(_eager(dense_kind)(groups, lr=learning_rate, weight_decay=weight_decay, fused=fused,
                                                  **eps))
        if sparse:
            sparse_kind = {"adagrad": torch.optim.Adagrad, "sgd": torch.optim.SGD}.get(name, torch.optim.SparseAdam)
            self._parts.append(_eager(sparse_kind)(_by_rate(model, sparse, learning_rate), lr=learning_rate, **eps))

    def zero_grad(self) -> None:
        for part in self._parts:
            part.zero_grad(set_to_none=True)

    def step(self) -> None:
        if self._max_grad_norm:
            _scale_down(self.weights, self._max_grad_norm)
        with torch.no_grad():
            for part in self._parts:
                part.step()

    def set_learning_rate(self, learning_rate: float) -> None:
        for part in self._parts:
            for group in part.param_groups:
                group["lr"] = learning_rate * group.get("factor", 1.0)

    def state_dict(self) -> list[dict[str, Any]]:
        """Return the state. All tensors are on the CPU."""
        return [_on_cpu(part.state_dict()) for part in self._parts]

    def load_state_dict(self, states: list[dict[str, Any]]) -> None:
        """Restore a state, which may come from a different device."""
        for part, state in zip(self._parts, states):
            # `fused` depends on the device, so it is not restored.
            groups = [{name: own[name] if name == "fused" else value for name, value in group.items()}
                      for own, group in zip(part.param_groups, state["param_groups"])]
            part.load_state_dict({**state, "param_groups": groups})


def _eager(kind: type[torch.optim.Optimizer]) -> Any:
    """Return a PyTorch optimiser class that does not import PyTorch's compiler, which would take two seconds. The
    caller must call `step()` in `no_grad()`."""
    names = ("add_param_group", "load_state_dict", "state_dict", "step", "zero_grad")
    methods = {name: getattr(kind, name) for name in names}
    return type(kind.__name__, (kind,), {name: getattr(method, "__wrapped__", method)
                                         for name, method in methods.items()})


def _by_rate(model: nn.Module, weights: Sequence[nn.Parameter], learning_rate: float) -> list[dict[str, Any]]:
    chosen = {id(weight) for weight in weights}
    groups = dict[float, list[nn.Parameter]]()
    for name, weight in model.named_parameters():
        if id(weight) in chosen:
            factor = model.rate_of(name) if isinstance(model, Model) else 1.0
            groups.setdefault(factor, []).append(weight)
    return [{"params": group, "factor": factor, "lr": learning_rate * factor} for factor, group in groups.items()]


def _on_cpu(state: Any) -> Any:
    if isinstance(state, dict):
        return {name: _on_cpu(value) for name, value in state.items()}
    return state.cpu() if isinstance(state, torch.Tensor) else state


def _scale_down(weights: Iterable[torch.Tensor], limit: float) -> None:
    values = []
    for weight in weights:
        grad = weight.grad
        if grad is None:
            continue
        if grad.is_sparse:  # repeated rows must be added up before the norm is computed
            grad = weight.grad = grad.coalesce()
        values.append(grad._values() if grad.is_sparse else grad)
    norm = torch.stack([value.norm() for value in values]).norm()
    if norm.device.type != "cpu" or norm > limit:  # on a GPU, a comparison would make Python wait
        factor = torch.where(norm > limit, limit / norm, 1.0)
        for value in values:
            value.mul_(factor)
