"""Makes files of each format from timed words, for tests of transcripts."""

import html


def clock(seconds, comma="."):
    ms = round(1000 * seconds)
    return f"{ms // 3600000:02}:{ms // 60000 % 60:02}:{ms // 1000 % 60:02}{comma}{ms % 1000:03}"


def said(row):
    return " ".join(word for word, _, _ in row)


def make_srt(segments):
    return "".join(f"{n}\n{clock(row[0][1], ',')} --> {clock(row[-1][2], ',')}\n{said(row)}\n\n"
                   for n, row in enumerate(segments, 1))


def make_vtt(segments):
    return "WEBVTT\n\n" + "".join(f"{clock(row[0][1])} --> {clock(row[-1][2])} align:start\n"
                                  f"{html.escape(said(row), False)}\n\n" for row in segments)


def make_sbv(segments):
    return "".join(f"{clock(row[0][1])[1:]},{clock(row[-1][2])[1:]}\n{said(row)}\n\n" for row in segments)


def make_ass(segments):
    return "[Script Info]\nTitle: a talk\n\n[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, " \
           "MarginV, Effect, Text\n" + "".join(
               f"Dialogue: 0,{clock(row[0][1])[1:-1]},{clock(row[-1][2])[1:-1]},Default,,0,0,0,,"
               f"{{\\an8}}{said(row)}\n" for row in segments)


def make_tsv(segments):
    return "start\tend\ttext\n" + "".join(f"{round(1000 * row[0][1])}\t{round(1000 * row[-1][2])}\t{said(row)}\n"
                                          for row in segments)


def make_audacity(segments):
    return "".join(f"{row[0][1]:.6f}\t{row[-1][2]:.6f}\t{said(row)}\n" for row in segments)


def make_microdvd(segments):
    return "".join(f"{{{round(23.976 * row[0][1])}}}{{{round(23.976 * row[-1][2])}}}{said(row)}\n" for row in segments)


def make_lrc(segments):
    return "[ti:a song]\n" + "".join(
        f"[{round(100 * row[0][1]) // 6000:02}:{row[0][1] % 60:05.2f}]{said(row)}\n" for row in segments)


def make_console(segments):
    return "".join(f"[{clock(row[0][1])} --> {clock(row[-1][2])}]  {said(row)}\n" for row in segments)


def make_ctm(segments):
    return ";; made up\n" + "".join(f"call A {b:.2f} {e - b:.2f} {w} 0.5\n" for row in segments for w, b, e in row)


def make_stm(segments):
    return "".join(f"call A ann {row[0][1]:.2f} {row[-1][2]:.2f} <o,f0> {said(row)}\n" for row in segments)


def make_mlf(segments):
    return '#!MLF!#\n"*/call.lab"\n' + "".join(f"{round(1e7 * b)} {round(1e7 * e)} {w} -3.5\n"
                                               for row in segments for w, b, e in row) + ".\n"


def make_kaldi_text(segments):
    return "".join(f"call-{n:04} {said(row)}\n" for n, row in enumerate(segments))


def make_textgrid(segments):
    words = [word for row in segments for word in row]
    end = words[-1][2]
    tiers = ""
    for number, (name, marks) in enumerate((("phones", ["AH0"] * len(words)), ("words", [w for w, _, _ in words])), 1):
        rows = "".join(f"        intervals [{n}]:\n            xmin = {b}\n            xmax = {e}\n"
                       '            text = "{}"\n'.format(mark.replace('"', '""'))
                       for n, (mark, (_, b, e)) in enumerate(zip(marks, words), 1))
        tiers += f'    item [{number}]:\n        class = "IntervalTier"\n        name = "{name}"\n        xmin = 0\n' \
                 f"        xmax = {end}\n        intervals: size = {len(words)}\n{rows}"
    return f'File type = "ooTextFile"\nObject class = "TextGrid"\n\nxmin = 0\nxmax = {end}\ntiers? <exists>\n' \
           f"size = 2\nitem []:\n{tiers}"


def make_ttml(segments):
    return '<?xml version="1.0"?>\n<tt xmlns="http://www.w3.org/ns/ttml"><body><div>\n' + "".join(
        f'<p begin="{clock(row[0][1])}" end="{clock(row[-1][2])}">{html.escape(said(row))}</p>\n'
        for row in segments) + "</div></body></tt>\n"


def make_srv1(segments):
    return "<transcript>" + "".join(
        f'<text start="{row[0][1]:.2f}" dur="{row[-1][2] - row[0][1]:.2f}">{html.escape(said(row))}</text>'
        for row in segments) + "</transcript>"


def make_sami(segments):
    return "<SAMI>\n<BODY>\n" + "".join(
        f"<SYNC Start={round(1000 * row[0][1])}><P Class=ENUSCC>{html.escape(said(row))}\n"
        f"<SYNC Start={round(1000 * row[-1][2])}><P Class=ENUSCC>&nbsp;\n" for row in segments) + "</BODY>\n</SAMI>\n"


def make_eaf(segments):
    slots = "".join(f'<TIME_SLOT TIME_SLOT_ID="ts{2 * n + i}" TIME_VALUE="{round(1000 * row[-i][1 + i])}"/>\n'
                    for n, row in enumerate(segments) for i in (0, 1))
    rows = "".join(f'<ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a{n}" TIME_SLOT_REF1="ts{2 * n}" '
                   f'TIME_SLOT_REF2="ts{2 * n + 1}">\n<ANNOTATION_VALUE>{html.escape(said(row))}</ANNOTATION_VALUE>'
                   "</ALIGNABLE_ANNOTATION></ANNOTATION>\n" for n, row in enumerate(segments))
    return f'<?xml version="1.0"?>\n<ANNOTATION_DOCUMENT>\n<TIME_ORDER>\n{slots}</TIME_ORDER>\n' \
           f'<TIER TIER_ID="ann">\n{rows}</TIER>\n</ANNOTATION_DOCUMENT>\n'


def make_text(segments):
    return "\n".join(said(row) for row in segments) + "\n"


MAKERS = {"SRT": make_srt, "WebVTT": make_vtt, "SBV": make_sbv, "ASS": make_ass, "TSV of Whisper": make_tsv,
          "labels of Audacity": make_audacity, "MicroDVD": make_microdvd, "LRC": make_lrc,
          "lines with times": make_console, "CTM": make_ctm, "STM": make_stm, "MLF": make_mlf,
          "text of Kaldi": make_kaldi_text, "TextGrid": make_textgrid, "TTML": make_ttml,
          "captions of YouTube": make_srv1, "SAMI": make_sami, "EAF": make_eaf, "text": make_text}
BY_WORD = {"CTM", "MLF", "TextGrid"}  # formats with word times
ONLY_BEGINS = {"LRC"}
UNTIMED = {"text", "text of Kaldi"}
