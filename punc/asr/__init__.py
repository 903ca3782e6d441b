"""Files of recognisers: words with their times and places, and how a word is written with its label."""
