#!/usr/bin/env python3
"""usage: local/write_prose.py LABELS-FILE CASING-FILE CLITICS-FILE DATA-DIR

The words and labels of a data directory as prose that a person reads (punc.prose), to standard output.
"""

import sys

from punc.casing import read_casing
from punc.datadir import DataDir
from punc.errors import InputError
from punc.labels import LabelSet
from punc.prose import ProseWriter
from punc.text import Clitics

if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    try:
        data = DataDir(sys.argv[4])
        writer = ProseWriter(sys.stdout.buffer, LabelSet.read(sys.argv[1]), read_casing(sys.argv[2]),
                             Clitics(sys.argv[3]).tokens)
        for utterance in data.utterances():
            if utterance.labels is None:
                raise InputError("no labels", "it needs a file punct", data.path)
            writer.write(utterance.id, utterance.stream, utterance.words, utterance.labels)
        writer.close()
    except InputError as error:
        sys.exit(f"{sys.argv[0]}: {error}")
