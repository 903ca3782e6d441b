"""Words and their times: CTM, TextGrid and STM, alignment of words, and the pause in each slot."""
