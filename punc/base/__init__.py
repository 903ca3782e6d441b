"""What every other package uses. Nothing here knows of punctuation.

What other packages and programs use:

    errors      InputError, check_at_least, check_choice, check_probability, one_line: a user's mistake in one line;
                  checks of arguments
    files       atomic_dir, atomic_file, decode_line, is_unfinished, open_input, read_blocks, read_lines, unchanged:
                  reading with clear errors; writing whole or not at all
    jobs        Part, Share, add_job_options, new_part, owners, FILE: work that jobs share
    joining     concatenate, finish_joining, joining: what jobs have made is joined
    lock        lock_directory: one writer at a time for an output directory
    options     OptionParser, boolean, kebab, keyword_arguments, nearest, with_options: command-line options and conf
                  files
    log         hide_progress: messages on standard error
    stop        Stopped, held, received, say, watch: Ctrl-C and SIGTERM
    parallel    map_ordered: the process pool
    lookup      Lookup, Tokens, split_lines, strings: tokens in bytes to numbers, without a Python step per token
    idtable     IdTable: numbers by id, for millions of ids
    spilled_counts  SpilledCounts: counts of more words than fit in memory
    memory      give_back_freed_memory, keep_freed_memory: what the process keeps of freed memory
    bfloat16    has_bfloat16: whether a device computes in bfloat16
    products    fast_products: products of matrices by the faster of two libraries
    device      check_device, find_device: the CPU or a GPU, by name
"""
