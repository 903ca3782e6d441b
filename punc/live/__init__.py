"""Live punctuation. Pipes, server connections and calls from Python all use the same state machine."""
