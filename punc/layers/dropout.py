"""Dropout (Srivastava et al. 2014) with a check of the rate."""

from torch import nn

from punc.base.errors import check_probability


def dropout(rate: float, argument: str = "dropout") -> nn.Dropout:
    """Drops units at `rate` in training and scales the others by 1 / (1 − rate).

    Raises InputError, with the name of the argument, if the rate is not at least 0 and less than 1.
    """
    check_probability(**{argument: rate})
    return nn.Dropout(rate)
