"""Words as they come: one machine that punctuates lines of a pipe, connections of a server and calls from Python."""
