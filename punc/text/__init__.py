"""Text and its marks: formats to read, tokens and labels, and text that is written again."""
