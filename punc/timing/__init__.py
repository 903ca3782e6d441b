"""Words and their times: files of timed words, alignment of words, and the pause in each slot."""
