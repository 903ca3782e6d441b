"""Mutates the bytes, lines, fields, numbers and tags of a file. Some mutations insert payloads, which run code if
anything evaluates them.
"""

import os
import pickle
import random
import re
from pathlib import Path

NUMBERS = (b"0", b"-1", b"1", b"2", b"127", b"128", b"255", b"65536", b"2147483647", b"2147483648", b"-2147483649",
           b"9223372036854775807", b"9223372036854775808", b"1e308", b"-0.0", b"1e-400", b"nan", b"inf", b"-inf",
           b"1_0", b"0x10", b"1,5", "٣".encode(), "²".encode(), b"9" * 4301, b"0." + b"0" * 400 + b"1", b"+1", b"*",
           b"NA")
BYTES = (b"\0", b"\r", b"\n", b"\r\n", b"\t", b" ", b"\x0b", b"\x0c", b"\x1c", b"\x7f", b"\x85", b"\xff", b"\xc3",
         b"\xed\xa0\x80", b"\xf4\x90\x80\x80", "\u00a0".encode(), "\u2028".encode(), "\u3000".encode(),
         "\ufeff".encode(), "\u200b".encode(), "\u0301".encode(), "\U0001f600".encode(), "ß".encode(), "İ".encode(),
         b"<", b">", b"&", b"'", b'"', b"|", b":", b";;", b"#", b"--", b"=", b"\\", b"/", b"../", b"%", b"{", b"[",
         b"]", b"<s>", b"</s>", b"<eps>", b"#0", b"<unk>", b"$(x)", b"`x`", b"~")
LARGEST = 1 << 21  # bytes; a longer input is cut, because it would only cost time
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
TAG = re.compile(rb"<[^<>]{1,200}>")
BLANK = re.compile(rb"[ \t]+")


class Payload:
    """An object whose pickle makes a directory when it is loaded."""

    def __init__(self, marker: Path):
        self.marker = marker

    def __reduce__(self) -> tuple:
        return os.mkdir, (str(self.marker),)


def payloads(marker: Path) -> list[bytes]:
    """Return payloads that make the directory `marker` if they are unpickled, evaluated or run by a shell. The last
    payload is XML with an external entity."""
    name, code = os.fsencode(marker), f"__import__('os').mkdir('{marker}')".encode()
    plain = [pickle.dumps(Payload(marker), protocol) for protocol in (0, 2, 4)]
    return [*plain, *(b"utt PKL" + content for content in plain), *(b"\x93NUMPY" + content for content in plain), code,
            b"{'descr': " + code + b"}", b"mkdir " + name + b" |", b"$(mkdir " + name + b")", b"`mkdir " + name + b"`",
            b"!!python/object/apply:os.mkdir ['" + name + b"']", b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hosts">'
            b"]><x>&e;</x>"]


def mutated(data: bytes, rng: random.Random, marker: Path) -> bytes:
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = rng.choices((_bytes, _lines, _fields, _numbers, _tags, _whole), (25, 20, 25, 15, 10, 5))[0](
            data, rng, marker)[:LARGEST]
    return data


def _bytes(data: bytes, rng: random.Random, marker: Path) -> bytes:
    at, much = rng.randrange(len(data) + 1), rng.choice((1, 1, 2, 4, 8, 64))
    part = data[at:at + much]
    new = rng.choice((b"", rng.choice(BYTES), rng.randbytes(len(part)), part * rng.choice((2, 3, 50)), bytes(much),
                      bytes([data[at] ^ 1 << rng.randrange(8)]) + part[1:] if part else b"x"))
    return data[:at] + new + data[at + much * rng.randrange(2):]


def _lines(data: bytes, rng: random.Random, marker: Path) -> bytes:
    lines = data.splitlines(keepends=True) or [b""]
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    line = lines[at]
    choice = rng.randrange(8)
    if choice == 0:
        del lines[at]
    elif choice == 1:
        lines.insert(other, line)
    elif choice == 2:
        lines[at], lines[other] = lines[other], line
    elif choice == 3:
        lines[at] = line.rstrip(b"\r\n")
    elif choice == 4:
        lines.insert(at, rng.choice((b"\n", b" \n", b"\t\n", b"x\n", b"# x\n", b";; x\n", b"\r\n", b"qzabcq\n")))
    elif choice == 5:
        del lines[at:]
    elif choice == 6:
        lines[at:at + 1] = [line] * rng.choice((2, 10, 200))
    else:
        lines.reverse()
    return b"".join(lines)


def _fields(data: bytes, rng: random.Random, marker: Path) -> bytes:
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    fields, blanks = BLANK.split(lines[at]), BLANK.findall(lines[at])
    which, choice = rng.randrange(len(fields)), rng.randrange(7)
    if choice == 0:
        del fields[which]
    elif choice == 1:
        fields.insert(which, rng.choice(fields))
    elif choice == 2:
        fields[which] = rng.choice(NUMBERS)
    elif choice == 3:
        fields[which] = rng.choice(BYTES) + fields[which]
    elif choice == 4:
        fields[which] += rng.choice(BYTES)
    elif choice == 5:
        fields[which] = rng.choice(BLANK.split(rng.choice(lines)))
    else:
        fields[which] *= min(rng.choice((2, 3000)), 2 + LARGEST // (1 + len(fields[which])))
    blank = rng.choice((blanks or [b" "])[:1] + [b" "] * 5 + [b"\t", b"  "])
    lines[at] = blank.join(fields)
    return b"\n".join(lines)


def _numbers(data: bytes, rng: random.Random, marker: Path) -> bytes:
    found = list(NUMBER.finditer(data[:1 << 16]))
    if not found:
        return _bytes(data, rng, marker)
    match = rng.choice(found)
    return data[:match.start()] + rng.choice(NUMBERS) + data[match.end():]


def _tags(data: bytes, rng: random.Random, marker: Path) -> bytes:
    tags = list(TAG.finditer(data))
    if not tags:
        return _fields(data, rng, marker)
    tag, other = rng.choice(tags), rng.choice(tags)
    new = rng.choice((b"", tag[0] * 2, other[0], tag[0] + other[0], b"x" + tag[0] + b"y", tag[0].replace(b"/", b""),
                      tag[0].replace(b"<", b"</"), b"<!--" + tag[0] + b"-->", b"<![CDATA[" + tag[0] + b"]]>"))
    return data[:tag.start()] + new + data[tag.end():]


def _whole(data: bytes, rng: random.Random, marker: Path) -> bytes:
    payload = rng.choice(payloads(marker))
    at = rng.randrange(len(data) + 1)
    return rng.choice((b"", payload, data[:at] + payload + data[at:], payload + b"\n" + data, data[:at], data * 2,
                       b"\xef\xbb\xbf" + data, data.replace(b"\n", b"\r\n"), data.replace(b"\n", b"\r"),
                       data.decode("utf-8", "replace").encode("utf-16"), rng.randbytes(64)))
