"""The results of an experiment: its pages in Markdown and HTML, its plots, and the copy that a recipe publishes."""
