"""ASR noise: errors as a recogniser makes them, laid over text that people wrote down.

What other packages and programs use:

    confusions  Confusions, read_confusions: what a recogniser made of which words, counted; its file
    learn       learn: confusions of aligned data directories
    table       NoiseTable, make_table: the errors of some words as probabilities
    draw        Drawn, draw, project_drawn: errors drawn for a text, and its labels and pauses carried onto it
    corrupt     corrupt: a data directory with errors
"""
