"""Files of recognisers: words with their times as places in a file, and how a word is written with its label."""
