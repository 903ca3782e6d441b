"""The equations of LSTMs in NumPy, for comparison with the layers and models of punc."""

import numpy as np


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


def softmax(a):
    return np.exp(a) / np.exp(a).sum()


def lstm(inputs, w, u, a, b):
    """Compute PyTorch's LSTM layer, (T, D) → (T, H), step by step. The order of the gates is i, f, g, o."""
    h, c, outputs = np.zeros(u.shape[1]), np.zeros(u.shape[1]), []
    for x in inputs:
        i, f, g, o = np.split(w @ x + a + u @ h + b, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        outputs.append(h)
    return np.array(outputs)
