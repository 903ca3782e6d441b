"""Decoding: posteriors and labels of data directories, streaming input and ASR output; transcripts and subtitles."""
