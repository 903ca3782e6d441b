"""The options of decoding: limits of their values, the command line, factors of labels."""

import numpy as np
import pytest

from punc.base.errors import InputError
from punc.base.options import OptionParser
from punc.data.labels import Label, LabelSet
from punc.decoding.options import DecodingOptions

LABELS = LabelSet((Label("O", "w"), Label("COMMA", "w,"), Label("PERIOD", "w.")))


def test_decoding_options_from_a_command_line():
    parser = OptionParser("punc test", "", "")
    parser.add_signature(DecodingOptions)
    assert DecodingOptions.parsed(parser.parse([])) == DecodingOptions()
    args = parser.parse(["--chunk-size=0", "--scale", "O=0.5", "--viterbi=false"])
    assert DecodingOptions.parsed(args) == DecodingOptions(scale="O=0.5", chunk_size=0, viterbi=False)


@pytest.mark.parametrize(("name", "least"), [("chunk_size", 0), ("context", 0)])
def test_decoding_options_too_small(name, least):
    assert getattr(DecodingOptions(**{name: least}), name) == least
    with pytest.raises(InputError, match=f"--{name.replace('_', '-')}={least - 1} is too small; give {least} or more"):
        DecodingOptions(**{name: least - 1})


def test_decoding_options_device():
    assert DecodingOptions().device == "auto"
    with pytest.raises(InputError, match=r"^--device=gpu; choose auto, cpu, cuda, or one of several GPUs: "):
        DecodingOptions(device="gpu")


def test_decoding_options_factors():
    assert DecodingOptions().factors(LABELS) is None
    factors = DecodingOptions(scale="PERIOD=2,O=0.5").factors(LABELS)
    assert factors.dtype == np.float32
    assert factors.tolist() == [0.5, 1, 2]
    with pytest.raises(InputError, match=r"--scale: no label 'COMA'; did you mean COMMA\?"):
        DecodingOptions(scale="COMA=1").factors(LABELS)


@pytest.mark.parametrize("number", ["1e308", "1e39", "1e-46", "9" * 400])
def test_scale_that_float32_cannot_hold(number):
    with pytest.raises(InputError, match="is not a factor for O; give a number above 0"):
        DecodingOptions(scale=f"O={number}").factors(LABELS)
