"""`punc pack`: convert a trained model to a small one that runs without PyTorch."""

from collections.abc import Sequence
from pathlib import Path

from punc.base.options import OptionParser
from punc.data.labels import LabelSet
from punc.decoding.options import parse_scale
from punc.decoding.pack import pack
from punc.decoding.shipped import find_model


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser(
        "punc pack [options] EXP-DIR OUT-DIR",
        "Packs a trained neural model into a directory: an ONNX file with large matrices as int8, the labels, the "
        "vocabulary, the conf, the casing table and the model card. Checks that ONNX Runtime, which runs the packed "
        "model, gives the same labels as PyTorch. The same model gives the same bytes. The casing table is applied to "
        "all output. This command needs: pip install 'punc-toolkit[onnx]'.",
        "punc pack --casing data/casing.txt --card conf/en.md exp/en models/en")
    parser.add_signature(pack, skip=("factors",))
    parser.add_argument("--scale", default="", metavar="STR",
                        help="multiply posteriors by LABEL=FACTOR,…, as in punc punctuate; the factors become part "
                             "of the model")
    parser.add_argument("directory", metavar="EXP-DIR", help="directory of the model")
    parser.add_output("out", metavar="OUT-DIR", help="directory to make")
    args = parser.parse(arguments)
    directory = find_model(args.directory)
    factors = parse_scale(args.scale, LabelSet.read(directory / "labels.txt"))
    pack(directory, Path(args.out), factors=factors, casing=args.casing, card=args.card, int8=args.int8)
