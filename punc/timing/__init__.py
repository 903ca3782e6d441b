"""Words and their times: files of timed words, alignment of words, and the pause in each slot.

What other packages and programs use:

    ctm         CtmIndex, TimedWord, Timing, ctm_rows, decimals, seconds, write_ctm, CTM_SILENCE, MAX_OVERLAP: CTMs of
                  Kaldi and NIST
    stm         LABEL: NIST's STM
    textgrids   TEXTGRID_SILENCE: Praat's TextGrid
    gentle      find_gentle, index_gentle, read_gentle: JSON of the aligner Gentle
    fast_ctm    CtmFile, Run, TimedLines: many lines of a CTM at once
    decode_dir  find_ctm: the CTM of a Kaldi decode directory
    align       Alignment, align_streams, align_words, project_labels, project_slots: alignment by edit
                distance, and labels carried along it
    speech      Sphinx, flite_phones, read_wav, timed: alignment and recognition with pocketsphinx
    pauses      Sources, pauses_by_label, read_channels, slot_pauses, stream_pauses, times_of_stream, word_times,
                  write_pauses, SEGMENT_SLACK: times to pauses
"""
