"""Makes random JSON files in the formats of recognisers and cloud services."""

import json
import random
from collections.abc import Callable
from typing import Any

Row = list[tuple[str, float, float]]
Rows = list[Row]


def spoken(row: Row, before: str = "") -> str:
    return " ".join(before + text for text, *_ in row)


def dumped(content: Any, rng: random.Random) -> str:
    return json.dumps(content, ensure_ascii=bool(rng.randrange(2)), indent=rng.choice((None, None, 1)))


def transformers(rows: Rows, rng: random.Random) -> str:
    blank, made = rng.choice(("", " ")), []
    for row in rows:
        chunks = [{"text": blank + text, "timestamp": [begin, rng.choice((end, None))]} for text, begin, end in row]
        if rng.randrange(2):
            chunks = [{"text": blank + spoken(row), "timestamp": [row[0][1], row[-1][2]], "language": None}]
        made.append({"text": blank + spoken(row), "chunks": chunks})
    return dumped(made[0] if len(made) == 1 else made, rng)


def whisper_cpp(rows: Rows, rng: random.Random) -> str:
    def entry(row: Row) -> dict[str, Any]:
        tokens = [{"text": "[_BEG_]", "offsets": {"from": 0, "to": 0}, "id": 50363, "p": 0.9}]
        return {"timestamps": {"from": "00:00:00,000", "to": "00:00:01,000"},
                "offsets": {"from": round(1000 * row[0][1]), "to": round(1000 * row[-1][2])},
                "text": " " + spoken(row), **({"tokens": tokens} if rng.randrange(2) else {})}

    if rng.randrange(2):  # one word per entry, as with --max-len 1
        rows = [[one] for row in rows for one in row]
    return dumped({"systeminfo": "AVX = 1", "params": {"language": "en"}, "transcription": [*map(entry, rows)]}, rng)


def nemo(rows: Rows, rng: random.Random) -> str:
    lines = []
    for number, row in enumerate(rows):
        words = [{"word": text, "start_offset": 1, "end_offset": 2, "start": begin, "end": end}
                 for text, begin, end in row]
        line = {"audio_filepath": f"a b/{number // 2}.wav", "text": "xyz", "pred_text": spoken(row)}
        if rng.randrange(2):
            line.update(offset=rng.choice((0, 3.5)), duration=2)
        lines.append({**line, "timestamps_word": words} if rng.randrange(2) else line)
    return "".join(json.dumps(line) + "\n" for line in lines)


def google_speech(rows: Rows, rng: random.Random) -> str:
    results = []
    for row in rows:
        words = [{"startTime": f"{begin:.3f}s", "endTime": f"{end:.3f}s", "word": text} for text, begin, end in row]
        best = {"transcript": " " + spoken(row), "confidence": 0.9, **({"words": words} if rng.randrange(2) else {})}
        results.append({"alternatives": [best, {"transcript": "other"}][:rng.choice((1, 2))], "languageCode": "en-us"})
    content = {"results": results}
    return dumped(rng.choice((content, {"name": "1", "done": True, "response": content})), rng)


def deepgram(rows: Rows, rng: random.Random) -> str:
    channels = []
    for row in rows:
        words = [{"word": text, "start": begin, "end": end, "confidence": 0.5, "speaker": rng.randrange(2)}
                 for text, begin, end in row]
        channels.append({"alternatives": [{"transcript": spoken(row), "words": words}]})
    utterances = [{"transcript": spoken(row), "words": []} for row in rows] if rng.randrange(2) else []
    return dumped({"metadata": {}, "results": {"channels": channels, "utterances": utterances}}, rng)


def amazon(rows: Rows, rng: random.Random) -> str:
    """Make a result like Amazon Transcribe's, in which marks are separate items. Here, some marks stay in the words."""
    items: list[Any] = []
    for text, begin, end in (one for row in rows for one in row):
        mark = text[-1] if text[-1] in ",." and rng.randrange(2) else ""
        items.append({"type": "pronunciation", "start_time": str(begin), "end_time": str(end), "speaker_label": "spk_0",
                      "alternatives": [{"confidence": "0.9", "content": text.removesuffix(mark) or text}]})
        items += [{"type": "punctuation", "alternatives": [{"confidence": "0.0", "content": mark}]}] * bool(mark)
    repeated = [{"transcript": spoken([one for row in rows for one in row])}]
    return dumped({"results": {"transcripts": repeated, "items": items}, "status": "COMPLETED"}, rng)


def speechmatics(rows: Rows, rng: random.Random) -> str:
    results: list[Any] = []
    for text, begin, end in (one for row in rows for one in row):
        mark = text[-1] if text[-1] in ",." and rng.randrange(2) else ""
        best = {"confidence": 0.9, "content": text.removesuffix(mark) or text, "speaker": rng.choice(("S1", "UU"))}
        results.append({"type": "word", "start_time": begin, "end_time": end, "alternatives": [best]})
        results += [{"type": "punctuation", "start_time": end, "end_time": end, "attaches_to": "previous",
                     "alternatives": [{"content": mark}]}] * bool(mark)
    return dumped({"format": "2.9", "results": results}, rng)


def azure(rows: Rows, rng: random.Random) -> str:
    phrases = []
    for row in rows:
        words = [{"word": text, "offsetInTicks": begin * 1e7, "durationInTicks": (end - begin) * 1e7}
                 for text, begin, end in row]
        texts = {"lexical": spoken(row), "display": spoken(row).title() if words else ""}
        best = {**texts, "words": words} if rng.randrange(2) else {**texts, "display": spoken(row)}
        phrases.append({"recognitionStatus": "Success", "speaker": rng.randrange(2), "offsetInTicks": 1.0,
                        "durationInTicks": 5, "nBest": [best, {"display": "other"}][:rng.choice((1, 2))]})
    return dumped({"combinedRecognizedPhrases": [{"display": "other"}], "recognizedPhrases": phrases}, rng)


def sherpa_onnx(rows: Rows, rng: random.Random) -> str:
    lines = []
    for row in rows:
        tokens = [(part, begin) for text, begin, _ in row for part in (" " + text[:1], text[1:]) if part]
        lines.append({"text": spoken(row, rng.choice(("", "", " "))), "tokens": [part for part, _ in tokens],
                      "timestamps": [begin for _, begin in tokens], "words": []})
        if rng.randrange(2):
            lines[-1] = {**lines[-1], "segment": len(lines), "start_time": 1.5, "is_final": True}
    return "".join(json.dumps(line) + "\n" for line in lines)


def whisper(rows: Rows, rng: random.Random) -> str:
    """Make a result like openai-whisper's, or a list of segments like faster-whisper's. Some segments list no words."""
    blank, segments = rng.choice((" ", "")), list[dict[str, Any]]()
    for number, row in enumerate(rows):
        segment: dict[str, Any] = {"id": number, "start": row[0][1], "end": row[-1][2],
                                   "text": "".join(" " + text for text, *_ in row), "tokens": [50364, 407]}
        if rng.randrange(5):
            segment["words"] = [{"word": blank + text, "start": begin, "end": end, "probability": 0.5}
                                for text, begin, end in row]
        segments.append(segment)
    whole = {"text": "".join(segment["text"] for segment in segments), "segments": segments, "language": "en"}
    return dumped(rng.choice((whole, whole, segments)), rng)


def vosk(rows: Rows, rng: random.Random, together: bool = True) -> str:
    results: list[Any] = []
    for row in rows:
        rated = [{"conf": 1.0, "end": end, "start": begin, "word": text} for text, begin, end in row]
        result = {"result": rated, "text": spoken(row)}
        results += [rng.choice((result, result, {"alternatives": [result, {"text": "other"}]}, {"text": spoken(row)}))]
        results += [{"partial": spoken(row)}] * (not rng.randrange(3))
    if together and not rng.randrange(3):
        return dumped(results, rng)
    return "\n".join(dumped(one, rng) for one in results) + "\n"


GRAMMARS: dict[str, Callable[[Rows, random.Random], str]] = {
    "whisper": whisper, "vosk": vosk,
    "transformers": transformers, "whisper_cpp": whisper_cpp, "nemo": nemo, "google_speech": google_speech,
    "deepgram": deepgram, "sherpa_onnx": sherpa_onnx, "amazon": amazon, "speechmatics": speechmatics, "azure": azure}
