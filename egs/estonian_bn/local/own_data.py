#!/usr/bin/env python3
"""usage: local/own_data.py [--lowercase BOOL] --labels FILE SET-DIR OUT-DIR
       local/own_data.py --times SET-DIR

Makes a data directory from your own broadcasts. SET-DIR contains punctuated transcripts in one of three forms:

    text    a Kaldi data directory whose `text` has marks: `UTT Tere õhtust, Aktuaalne Kaamera.`;
            utt2spk, segments, wav.scp and reco2file_and_channel are kept if they exist
    *.trs   files of Transcriber
    *.txt   one text for each recording; its name is that of its TextGrid, or that of the recording in the CTM

SET-DIR also contains the times of the words: `ctm`, `*.ctm`, or `*.TextGrid`. `ctm` can be a link to the file that
get_train_ctm.sh writes to the alignment directory. With --times, the script only prints the path that `punc pauses`
needs: that of `ctm` if it exists, otherwise SET-DIR.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from punc.base.errors import InputError
from punc.base.files import decode_line, open_input
from punc.base.options import OptionParser, boolean
from punc.bin.script import run_script
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.data.labels import LabelSet
from punc.text.format import PrepareOptions
from punc.text.formats import trs
from punc.text.not_speech import messages
from punc.text.prose import TextReader


def times(folder: Path) -> Path:
    """Return the file or directory with the times of words. Raises InputError if there is none."""
    if (folder / "ctm").is_file():
        return folder / "ctm"
    if not [file for file in folder.rglob("*") if file.suffix.lower() in (".ctm", ".textgrid")]:
        raise InputError("no word times", "put ctm, *.ctm or *.TextGrid here", folder)
    return folder


def read(text: str, reader: TextReader) -> tuple[list[str], list[str]]:
    """Return the words and labels of a punctuated text. Marks before the first word are dropped."""
    words, labels = [], []
    for token in text.split():
        parts = reader.token(token)
        if parts.lead and labels:
            labels[-1] = reader.attach(labels[-1], parts.lead)
        words += parts.words.split()
        labels += parts.labels.split()
    return words, labels


def of_table(data: DataDir, reader: TextReader) -> Iterator[Utterance]:
    """Yield the utterances of a Kaldi directory with punctuated text. Raises InputError if an utterance has no word."""
    for utterance in data.utterances():
        words, labels = read(" ".join(utterance.words), reader)
        if not words:
            raise InputError(f"utterance '{utterance.id}' has no words",
                             "remove it: utils/fix_data_dir.sh", data.path / "text")
        yield Utterance(utterance.id, utterance.stream, words, labels)


def of_texts(files: Sequence[Path], reader: TextReader) -> Iterator[Utterance]:
    """Yield each recording's text as a stream of one utterance. Raises InputError if a text has no words."""
    for file in sorted(files, key=lambda file: file.stem.encode()):
        with open_input(file) as lines:
            text = " ".join(decode_line(line, file, number) for number, line in enumerate(lines, 1))
        words, labels = read(text, reader)
        if not words:
            raise InputError("the file has no words", "remove the file, or get it again", file)
        yield Utterance(file.stem, file.stem, words, labels)


def make(folder: Path, out: Path, reader: TextReader) -> None:
    """Make the data directory. Raises InputError if there are no transcripts."""
    if (folder / "text").is_file():
        data = DataDir(folder, ignore=["punct", "pauses.scp"])
        write_data_dir(out, of_table(data, reader), like=data)
    elif files := sorted(folder.glob("*.trs")):
        for line in messages(trs.Format(PrepareOptions(reader.labels, reader.lowercase)).prepare(files, out)):
            print(f"{sys.argv[0]}: {out}: {line}", file=sys.stderr)
    elif files := sorted(folder.glob("*.txt")):
        write_data_dir(out, of_texts(files, reader))
    else:
        raise InputError("no transcripts", "put text and utt2spk, *.trs or *.txt here", folder)


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser("local/own_data.py --labels FILE SET-DIR OUT-DIR", "See the top of the script.", "")
    parser.add_argument("--labels", metavar="FILE", help="label set")
    parser.add_argument("--lowercase", type=boolean, default=True, metavar="BOOL", help="write words in lower case")
    parser.add_argument("--times", metavar="SET-DIR", help="only print the file or directory with the word times")
    parser.add_argument("folders", nargs="*", metavar="SET-DIR OUT-DIR", help="transcripts; data directory to make")
    args = parser.parse(arguments)
    if args.times:
        print(times(Path(args.times)))
        return
    if len(args.folders) != 2 or not args.labels:
        raise InputError("the arguments are not --labels FILE SET-DIR OUT-DIR", "see the top of the script")
    folder, out = map(Path, args.folders)
    times(folder)
    make(folder, out, TextReader(LabelSet.read(args.labels), args.lowercase))


if __name__ == "__main__":
    run_script(main, __doc__)
