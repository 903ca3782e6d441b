"""Scores: counts, metrics, intervals and paired tests; result pages and plots; labels projected onto other words.

What other packages and programs use:

    counts        Counts, add_up, confusion, count, read_counts, write_counts: slots by reference and hypothesis label
    collapse      merge, parse_collapse: labels scored together as one class
    metrics       compute_metrics, is_summary: one file per metric, found by its name
    ratios        PARTS: what the metrics share
    significance  check_pair, compare, intervals: bootstrap intervals and paired tests
    report        new_score, score_table, signature, write_score, METRICS: a score directory
    collect       Score, collect_costs, collect_scores, log_parts, paired_tests: the data of result pages
    page_data     PageData, pictures, read_page_data, read_published, write_page_data: the same as tables
    seeds         join_seeds: the runs of a system with several seeds as one row, with mean and standard deviation
    pages         Settings, render: page data as Markdown
    findings      unknown_figures: checks the figures that a text quotes
    publish       new_pages, publish, write_pages: pages put into place
    project       project: labels projected onto the words of another data directory
    texts         ENGLISH, score_texts: plain texts against each other
    plots         available, plot_pauses, plot_posteriors, posteriors, slots: pictures of pauses
"""
