"""Scores: counts, metrics, intervals and paired tests; result pages and plots; labels projected onto other words.

    counts        Counts, count, read_counts, write_counts: slots by reference and hypothesis label
    collapse      Collapse, parse_collapse: labels scored together as one class
    metrics/      compute_metrics; one file per metric, found by its name; `ratios` is what they share
    significance  Interval, Comparison, intervals, compare: bootstrap intervals and paired tests
    report        write_score, score_table, signature: a score directory
    collect       collect_scores, paired_tests, collect_costs: the data of result pages, from an experiment
    page_data     PageData, read_page_data, write_page_data: the same as tables (`tsv`)
    pages         Settings, render: page data as Markdown (`markdown`); `findings` checks the text
    publish       write_pages, publish: pages put into place
    project       project: labels projected onto the words of another data directory
    plots         plot_pauses, plot_posteriors: pictures of pauses
"""
