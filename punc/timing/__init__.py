"""Words and their times: files of timed words, alignment of words, and the pause in each slot.

    ctm         CtmIndex, TimedWord, Timing, read_ctm, write_ctm: Kaldi's and NIST's CTM
    fast_ctm    CtmFile: many lines of a CTM at once
    stm         StmSegment, read_stm, write_stm: NIST's reference with times
    textgrids   index_textgrids, read_textgrid: MFA's and Praat's TextGrid
    decode_dir  find_ctm: the CTM of a Kaldi decode directory
    align       align_words, project_labels: alignment by edit distance, and labels carried along it
    pauses      stream_pauses, slot_pauses, word_times, write_pauses: times to pauses
"""
