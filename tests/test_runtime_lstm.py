"""Layers of LSTM in NumPy against torch.nn.LSTM: many texts, texts that begin later, and one text step by step."""

import numpy as np
import pytest
import torch

from punc.decoding.lstm import Gathered, Multiplied, Stepper, Weights, run_layer

SIZE, DEPTH, STEPS, BATCH = 11, 7, 30, 5


def layers_of(number, seed=0):
    torch.manual_seed(seed)
    lstm = torch.nn.LSTM(DEPTH, SIZE, number)
    for weight in lstm.parameters():
        torch.nn.init.normal_(weight, std=3.0 if weight.ndim == 1 else 1.0)
    return lstm, [[w.detach().numpy() for w in layer] for layer in lstm.all_weights]


def run(layers, inputs, starts=None):
    """(T, B, D) → the states h of the last layer (T, B, H)."""
    values = np.ascontiguousarray(inputs.transpose(0, 2, 1))
    for layer in layers:
        outputs = np.empty((len(values), SIZE, values.shape[2]), np.float32)
        run_layer(Multiplied(Weights(layer, -2.0), values), outputs, starts)
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


def test_gathered_equals_multiplied():
    rng = np.random.default_rng(3)
    weights = Weights(layers_of(1)[1][0], -2.0)
    vectors, indices = rng.normal(size=(9, DEPTH)).astype(np.float32), rng.integers(0, 9, (STEPS, BATCH))
    starts = {4: np.array([1, 2])}
    for order in (slice(None), slice(None, None, -1)):
        expected = run([layers_of(1)[1][0]], vectors[indices[order]], starts)
        found = np.empty((STEPS, SIZE, BATCH), np.float32)
        run_layer(Gathered(weights, vectors, indices[order]), found, starts)
        np.testing.assert_allclose(found.transpose(0, 2, 1), expected, rtol=0, atol=5e-6)


@pytest.mark.parametrize("size", [1e3, 1e30])
def test_run_layer_and_stepper_large_inputs_saturate(size):
    _, layers = layers_of(1)
    inputs = np.random.default_rng(4).choice([-size, size], (STEPS, BATCH, DEPTH)).astype(np.float32)
    assert np.abs(run(layers, inputs)).max() <= 1
    stepper = stepper_of(layers)
    assert np.isfinite([stepper.step(x) for x in projected(layers, inputs[:, 0])]).all()


def stepper_of(layers):
    """A stepper whose logits are the states of the last layer."""
    return Stepper([Weights(layer, 1.0) for layer in layers], (np.eye(SIZE, dtype=np.float32), np.zeros(SIZE, "f4")))


def projected(layers, inputs):
    """Inputs (T, D) → what a stepper takes."""
    first = Weights(layers[0], 1.0)
    return inputs @ first.inputs.T + first.bias[:, 0]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_stepper_equals_run_layer(number):
    _, layers = layers_of(number)
    inputs = np.random.default_rng(2).normal(size=(STEPS, DEPTH)).astype(np.float32)
    stepper = stepper_of(layers)
    found = np.array([stepper.step(x) for x in projected(layers, inputs)])
    np.testing.assert_allclose(found, run(layers, inputs[:, None])[:, 0], rtol=0, atol=2e-6)


def test_stepper_adds_the_output_layer():
    rng = np.random.default_rng(5)
    _, layers = layers_of(2)
    weight, bias = rng.normal(size=(4, SIZE)).astype(np.float32), np.arange(4, dtype=np.float32)
    plain, stepper = stepper_of(layers), Stepper([Weights(layer, 1.0) for layer in layers], (weight, bias))
    for x in projected(layers, rng.normal(size=(STEPS, DEPTH)).astype(np.float32)):
        np.testing.assert_allclose(stepper.step(x), weight @ plain.step(x) + bias, rtol=0, atol=1e-5)


def test_stepper_copy_has_a_state_of_its_own():
    _, layers = layers_of(2)
    inputs = projected(layers, np.random.default_rng(6).normal(size=(STEPS, DEPTH)).astype(np.float32))
    alone, stepper = stepper_of(layers), stepper_of(layers)
    expected = [alone.step(x) for x in inputs]
    half = STEPS // 2
    found = [stepper.step(x) for x in inputs[:half]]
    other, ended = stepper.copy(), stepper.copy()
    for _ in range(3):
        ended.step(inputs[0])
    found += [stepper.step(x) for x in inputs[half:]]
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal([other.step(x) for x in inputs[half:]], expected[half:])
    assert all(a is b for mine, its in zip(stepper.weights, other.weights) for a, b in zip(mine, its))


def test_steppers_of_one_model_have_states_of_their_own():
    _, layers = layers_of(1)
    one, two = stepper_of(layers), stepper_of(layers)
    a, b = projected(layers, np.eye(2, DEPTH, dtype=np.float32))
    first = one.step(a).copy()
    one.step(b)
    np.testing.assert_array_equal(two.step(a), first)
