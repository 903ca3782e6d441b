"""Makes the result pages of an experiment in Markdown and HTML, with plots, and the copies that recipes publish."""
