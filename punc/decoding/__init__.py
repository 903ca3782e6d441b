"""Decoding: posteriors and labels of data directories, streaming input and ASR output; transcripts and subtitles.

What other packages and programs use:

    decode            decode, log_posteriors: posteriors and labels of streams
    punctuated_file  punctuate_file: `punc transcript` on a file of a recogniser
    dispatch          load_model: any model, to decode with
    live              Stream, mark, open_stream: words that come one by one, with their labels
    live_session      LiveOptions: when words of live input are decided
    options           DecodingOptions, OutputOptions, parse_scale: the options of decoding, and of the output
    punctuate         punctuate, punctuate_share: `punc punctuate` on data directories
    punctuated_parts  join_punctuated: what several jobs punctuated, joined
    punctuated_text   check_out, find_ctm, log_counts: how the output is written
    punctuator        Punctuator: a model for programs in Python
    server            Server, ServerOptions, run_server: live input of many clients
    spans             GROUP: long streams in spans
    streaming         LiveFormat, punctuate_streaming: live input punctuated as it comes
    streaming_chars   punctuate_lines: lines of text without blanks, as they come
    transcript        join_transcripts, transcript, DECODING: `punc transcript`
"""
