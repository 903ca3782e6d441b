"""Scores: counts, metrics, intervals and paired tests; result pages and plots; labels projected onto other words.

What other packages and programs use:

    counts         Counts, add_up, block_names, check_slots, count, join_blocks, no_counts, read_counts,
                   without_words, write_counts, BLOCK, MIN_STREAMS: slots by reference and hypothesis label, and word
                   errors, of what is resampled
    stream_counts  Words, confusion, count_streams, counted_slots, LAST_SLOTS: the same of some streams
    posteriors     Posteriors: histograms of posteriors
    collapse       merge, parse_collapse: labels scored together as one class
    metrics        compute_flat, compute_metrics, is_summary: one file per metric, found by its name
    ratios         PARTS: what the metrics share
    significance   Interval, Measure, both_flat, check_pair, compare, intervals: bootstrap intervals and paired tests
    training_noise compare_runs: paired tests of systems with several seeds
    report         new_score, score_json, score_table, signature, system_table, systems_json, write_score, METRICS: a
                   score directory, and tables
    collect        Score, collect_costs, collect_scores, log_parts, paired_tests: the data of result pages
    page_data      PageData, pictures, read_page_data, read_published, write_page_data: the same as tables
    keep           dropped_rows, keep_rows: rows of published pages next to new ones
    trainings      collect_trainings: what systems were trained on
    seeds          Spread, first_runs, join_seeds: the runs of a system with several seeds as one row, with mean and
                   standard deviation
    markdown       chance: numbers to read
    pages          Settings, render: page data as Markdown
    findings       unknown_figures: checks the figures that a text quotes
    publish        new_pages, publish, write_pages: pages put into place
    project        Projection, paired_streams, project, project_stream: labels projected onto the words of another data
                   directory
    texts          ENGLISH, score_texts, text_reader: plain texts against each other
    text_files     Side, count_texts, pair, read_side: text files and data directories against each other
    label_plots    count_labels, describe, plot_labels: pictures of labels, for texts without pauses, too
    plots          available, plot_pauses, plot_posteriors, posteriors, slots: pictures of pauses
"""
