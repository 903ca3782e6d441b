"""Decoding: posteriors and labels of whole data directories, of live streams, and as transcripts and subtitles."""
