"""Data directories as in Kaldi: tables, archives, label sets, and the checks that they fit together.

What other packages and programs use:

    tables        Row, count_blanks, fields, read_table, sort_table, write_table, FORBIDDEN: Kaldi text tables
    kaldi_io      parse_location, read_archive, read_posteriors, write_vector: Kaldi float vectors and matrices
    archive_path  archive_path: the path of an archive in its index
    labels        Label, LabelSet, SENTENCE_ENDS, with_capital: label sets, labels.txt
    datadir       DataDir, Utterance, checksum, label_numbers, segment, speaker, LATEST: a data directory as streams
                    of utterances
    datadir_writer  complete_tables, new_data_dir, write_data_dir, write_tables, write_utterances: writing one
    turns         ends_of_turns, write_turns, FLAGS, TURNS: where the speaker changes
    label_record  check_record, difference, note_record, RECORD: the label set of a data directory
    block_reader  Encoded, Irregular, LineBlock, at_slots, count_block, encode_block, encode_by_time, explain,
                    line_blocks, read_span, COUNT_BYTES, ENCODE_BYTES: a data directory at full speed, in blocks of
                    lines
    validate      validate: the checks of `punc validate`
"""
