"""Data directories as in Kaldi: tables, archives, label sets, and the checks that they fit together.

tables         Kaldi text tables
kaldi_io       Kaldi float vectors
labels         label sets, labels.txt
datadir        a data directory as streams of utterances
block_reader   a data directory at full speed, in blocks of lines
validate       the checks of `punc validate`
"""
