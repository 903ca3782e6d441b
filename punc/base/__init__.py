"""What every room uses: errors, files, options, look-up tables, memory, processes. Knows nothing of punctuation."""
