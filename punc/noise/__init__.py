"""ASR noise: errors as a recogniser makes them, laid over text that people wrote down.

What other packages and programs use:

    confusions   Confusions, read_confusions: what a recogniser made of which words, counted; its file
    learn        learn: the confusions of aligned data directories
    corrupt      corrupt: a data directory with errors
    store_noise  StoreNoise: a set of a store with errors, drawn anew for each seed
"""
