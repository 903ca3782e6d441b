"""Layers of LSTM in NumPy against torch.nn.LSTM: many texts, texts that begin later, and one text step by step."""

import numpy as np
import pytest
import torch

from punc.runtime.lstm import Stepper, Weights, run_layer

SIZE, DEPTH, STEPS, BATCH = 11, 7, 30, 5


def layers_of(number, seed=0):
    torch.manual_seed(seed)
    lstm = torch.nn.LSTM(DEPTH, SIZE, number)
    for weight in lstm.parameters():
        torch.nn.init.normal_(weight, std=3.0 if weight.ndim == 1 else 1.0)
    return lstm, [Weights([w.detach().numpy() for w in layer]) for layer in lstm.all_weights]


def run(layers, inputs, starts=None):
    """(T, B, D) → the states h of the last layer (T, B, H)."""
    values = np.ascontiguousarray(inputs.transpose(0, 2, 1))
    for layer in layers:
        outputs = np.empty((len(values), SIZE, values.shape[2]), np.float32)
        run_layer(layer.fused, values, outputs, starts)
        values = outputs
    return values.transpose(0, 2, 1)


@pytest.mark.parametrize("number", [1, 2])
def test_run_layer_equals_torch(number):
    lstm, layers = layers_of(number)
    inputs = torch.randn(STEPS, BATCH, DEPTH)
    with torch.no_grad():
        expected = lstm(inputs)[0].numpy()
    np.testing.assert_allclose(run(layers, inputs.numpy()), expected, rtol=0, atol=2e-6)


def test_run_layer_texts_that_begin_later_forget_what_was_before():
    _, layers = layers_of(1)
    inputs = np.random.default_rng(1).normal(size=(STEPS, 3, DEPTH)).astype(np.float32)
    found = run(layers, inputs, {4: np.array([1, 2])})
    np.testing.assert_allclose(found[4:, 1:], run(layers, inputs[4:, 1:]), rtol=0, atol=1e-6)
    np.testing.assert_allclose(found[:, :1], run(layers, inputs[:, :1]), rtol=0, atol=1e-6)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_stepper_equals_run_layer(number):
    rng = np.random.default_rng(2)
    _, layers = layers_of(number)
    embedding, shift = rng.normal(size=(9, DEPTH)).astype(np.float32), np.zeros(4 * SIZE, np.float32)
    weight, bias = rng.normal(size=(4, SIZE)).astype(np.float32), np.arange(4, dtype=np.float32)
    stepper, tokens = Stepper(layers, (weight, bias), embedding, shift), rng.integers(0, 9, STEPS)
    found = np.array([stepper.step(stepper.project(int(token))) for token in tokens])
    expected = run(layers, embedding[tokens][:, None])[:, 0] @ weight.T + bias
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-5)


def test_steppers_of_one_model_have_states_of_their_own():
    _, layers = layers_of(1)
    embedding, shift = np.eye(3, DEPTH, dtype=np.float32), np.zeros(4 * SIZE, np.float32)
    output = np.ones((2, SIZE), np.float32), np.zeros(2, np.float32)
    one, two = (Stepper(layers, output, embedding, shift) for _ in range(2))
    first = one.step(one.project(1)).copy()
    one.step(one.project(2))
    np.testing.assert_array_equal(two.step(two.project(1)), first)
