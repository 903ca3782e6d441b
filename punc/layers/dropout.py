"""Dropout (Srivastava et al. 2014), with a check of the rate that the user gave."""

from torch import nn

from punc.base.errors import InputError
from punc.base.options import kebab


def dropout(rate: float, option: str = "dropout") -> nn.Dropout:
    """Leaves out a part `rate` of the units in training; the others count for 1 / (1 − rate) as much.

    Raises InputError, with the name of the option, for a rate that is none.
    """
    if not 0 <= rate < 1:  # NaN too
        raise InputError(f"{kebab(option)}={rate}", "it is at least 0 and less than 1")
    return nn.Dropout(rate)
