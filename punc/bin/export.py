"""`punc export`: write a neural model in a format of other programs."""

from collections.abc import Sequence
from pathlib import Path

from punc.base.options import OptionParser, boolean
from punc.decoding.shipped import find_model


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser(
        "punc export [options] MODEL OUT-DIR",
        "Writes a neural model as OUT-DIR/model.onnx, with the vocabulary and the labels next to it, and checks that "
        "ONNX Runtime gives the labels that punc gives. MODEL is a directory that punc train or punc pack made, or the "
        "name of a model that ships with punc (en, en-live). It needs: pip install 'punc-toolkit[onnx]'.",
        "punc export en-live en-live-onnx")
    parser.add_argument("--format", choices=("onnx",), default="onnx", metavar="NAME", help="format of the output")
    parser.add_argument("--int8", type=boolean, default=False, metavar="BOOL",
                        help="weights of matrix products as 8-bit integers: smaller and faster; some labels differ")
    parser.add_argument("directory", metavar="MODEL", help="directory of a model, or the name of one that ships")
    parser.add_argument("out", metavar="OUT-DIR", help="directory to make")
    args = parser.parse(arguments)
    directory = find_model(args.directory)
    from punc.decoding.export import export  # torch takes a second
    export(directory, Path(args.out), args.int8)
