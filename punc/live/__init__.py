"""Live words: one state machine that punctuates a pipe, a server's connections and calls from Python."""
