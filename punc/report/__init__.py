"""The page of `punc report`: the scores of an experiment, plots of where its systems fail, and the errors themselves.

What other packages and programs use:

    page          Settings, missing_packages, render: an experiment as one HTML page
"""
