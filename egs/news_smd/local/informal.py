"""Makes informal questions and statements from real sentences, in place of the paper's in-house set "DSAT".

A sentence is used if it has 2 to MAX_WORDS words, no word of conf/formal_words.txt, and no `?` inside. A statement must
also contain a word of PERSONAL. Random choices depend only on the text (`texts.chance`). A sentence is made informal in
these steps:

1. `and`, `but`, `so`, `now`, `well` or `then` is dropped at the beginning.
2. Some statements are turned into questions:
   - by inversion: you can come → can you come? I am late → are you late?
   - or with `do`: you want, we need → do you want, do we need? I think → do you think?
   - or, for one in TAGGED statements that do not begin with `I`, by adding a tag: …, right? …, ok?
3. A question may lose its auxiliary (you want to play tennis?), and then also its subject (want to play tennis?).
   A statement may lose its subject (was running late.), and then also `am` or `is` (running late.).
4. Words are replaced by the informal ones in conf/informal_words.txt (obtain: get; do not: don't). A replacement that
   the file marks as rare (going to: gonna) is made in only one in RARE sentences.
5. One in GREETED sentences begins with a greeting and a comma (hey, hi, ok). One in THANKED of the other statements
   gets a comma and a closing word or phrase (…, thanks. …, see you.).
"""

import re
from collections.abc import Sequence

from texts import CONF, chance, is_question, words_of

from punc.base.files import read_lines

MAX_WORDS = 12
TAGGED, GREETED, THANKED, SHORTENED, RARE = 8, 6, 12, 2, 3  # one in this many suitable sentences is changed
LINKS = frozenset(("and", "but", "so", "now", "well", "then"))
PRONOUNS = frozenset(("i", "you", "we", "they", "he", "she", "it", "this", "that", "there"))
AUXILIARIES = frozenset(("am", "are", "is", "was", "were", "can", "could", "will", "would", "should", "have", "has",
                         "had", "must"))
PRESENT = frozenset(("want", "need", "think", "know", "like", "love", "see", "hope", "remember", "mean", "feel", "live",
                     "work", "believe", "go"))
ASKED = frozenset(("do", "did", "are", "is", "have", "will", "would", "can"))
PERSONAL = frozenset(("i", "me", "my", "you", "your", "we", "us", "i'm", "i've", "i'll", "i'd", "you're", "we're",
                      "we'll"))
PARTICIPLE = re.compile(r"\w+(?:ed|en|wn|ught)|got|made|had|done|gone|come|become|found|told|said|met|lost|put|read")
PEOPLE = frozenset(("you", "we", "they"))
TO_YOU = {"i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "am": "are"}
SPLIT = {"i'm": "i am", "you're": "you are", "we're": "we are", "they're": "they are", "he's": "he is",
         "she's": "she is", "it's": "it is", "that's": "that is", "there's": "there is", "i'll": "i will",
         "you'll": "you will", "we'll": "we will", "they'll": "they will", "i've": "i have", "you've": "you have",
         "we've": "we have"}
TAGS = ("right", "ok", "isn't it", "yeah", "don't you think")
GREETINGS = ("hey", "hi", "hello", "ok", "sorry", "oh", "yeah", "thanks", "hi there", "good morning")
ENDINGS = ("thanks", "ok", "please", "sorry", "see you", "bye", "that's all")


class Informal:
    """Makes sentences informal with the word lists of conf/."""

    def __init__(self):
        self.formal = frozenset(word for _, word in read_lines(CONF / "formal_words.txt"))
        self.often, self.rarely = {}, {}
        for _, line in read_lines(CONF / "informal_words.txt"):
            written, _, said = (part.strip() for part in line.partition(":"))
            (self.rarely if said.endswith(" rare") else self.often)[tuple(written.split())] = said.removesuffix(" rare")

    def make(self, text: str, question: bool) -> str:
        """Return an informal question or statement made from a sentence, or "" if none can be made."""
        tokens = text[:-1].split()
        if tokens and tokens[0].rstrip(",") in LINKS:
            tokens = tokens[1:]
        if not 2 <= len(tokens) <= MAX_WORDS or self.formal.intersection(words_of(text)) or "?" in text[:-1]:
            return ""
        if not is_question(text) and not PERSONAL.intersection(words_of(text)):
            return ""
        if is_question(text) and not question:
            return ""
        if question and not is_question(text):
            tokens = as_question(tokens, text)
        elif one_in(SHORTENED, "short", text):
            tokens = shortened(tokens, question, text)
        tokens = extended(self._lower(tokens, text), question, text)
        return " ".join(tokens) + ("?" if question else ".") if len(tokens) > 1 else ""

    def _lower(self, tokens: Sequence[str], text: str) -> list[str]:
        """Replace formal words and phrases with informal ones."""
        rules = {**self.often, **self.rarely} if one_in(RARE, "rare", text) else self.often
        out, i = [], 0
        while i < len(tokens):
            for length in range(min(3, len(tokens) - i), 0, -1):
                words = tuple(token.rstrip(",") for token in tokens[i:i + length])
                # A sentence cannot end with a contraction.
                whole = i + length < len(tokens) or "'" not in rules.get(words, "")
                if words in rules and whole and not any(token.endswith(",") for token in tokens[i:i + length - 1]):
                    comma = "," if tokens[i + length - 1].endswith(",") else ""
                    out += (rules[words] + comma).split()
                    i += length
                    break
            else:
                out.append(tokens[i])
                i += 1
        return out


def one_in(number: int, seed: str, text: str) -> bool:
    """Return whether a text is chosen, if one in `number` texts is chosen at random."""
    return chance(seed, text) * number < 1


def pick(choices: Sequence[str], seed: str, text: str) -> str:
    """Return one of the choices, determined by seed and text."""
    return choices[int(chance(seed, text) * len(choices))]


def as_question(tokens: list[str], text: str) -> list[str]:
    """Turn a statement into a question, but without a question mark. Return [] if no rule applies."""
    tokens = [*SPLIT.get(tokens[0], tokens[0]).split(), *tokens[1:]]
    if tokens[0] not in PRONOUNS or len(tokens) < 3:
        return []
    if one_in(TAGGED, "tag", text) and tokens[0] != "i":
        return [*tokens[:-1], tokens[-1].rstrip(",") + ",", *pick(TAGS, "which tag", text).split()]
    first, verb, rest = tokens[0], tokens[1], tokens[2:]
    if verb in AUXILIARIES and (verb not in ("have", "had", "has") or PARTICIPLE.fullmatch(rest[0])):
        tokens = [verb, first, *rest]
    elif verb in PRESENT and first in ("i", "you", "we", "they"):
        tokens = ["do", *tokens]
    else:
        return []
    if first != "i":
        return shorter_question(tokens) if one_in(SHORTENED, "short", text) else tokens
    tokens = [TO_YOU.get(token, TO_YOU.get(token.rstrip(","), "") + "," if token.rstrip(",") in TO_YOU else token)
              for token in tokens]
    tokens[0] = "were" if tokens[0] == "was" else tokens[0]
    return shorter_question(tokens) if one_in(SHORTENED, "short", text) else tokens


def shortened(tokens: list[str], question: bool, text: str) -> list[str]:
    """Drop the beginning of a sentence, if speakers can leave it out."""
    if question:
        return shorter_question(tokens)
    tokens = [*SPLIT.get(tokens[0], tokens[0]).split(), *tokens[1:]]
    if tokens[0] not in ("i", "we", "it", "he", "she") or len(tokens) < 4 or tokens[1].endswith(","):
        return tokens
    return tokens[2:] if tokens[1] in ("am", "is") and one_in(2, "verb", text) else tokens[1:]


def shorter_question(tokens: list[str]) -> list[str]:
    """Shorten a question: do you want to go → want to go; are you coming → you coming. Keep questions that do not have
    this form."""
    if len(tokens) < 4 or tokens[0] not in ASKED or tokens[1] not in PEOPLE:
        return tokens
    both = tokens[1] == "you" and one_in(2, "both", " ".join(tokens))
    return tokens[2:] if both else tokens[1:]


def extended(tokens: list[str], question: bool, text: str) -> list[str]:
    """Add a greeting before some sentences, and an ending to some statements."""
    if tokens and one_in(GREETED, "greeting", text):
        return [*(pick(GREETINGS, "which greeting", text) + ",").split(), *tokens]
    if tokens and not question and one_in(THANKED, "ending", text):
        return [*tokens[:-1], tokens[-1] + ",", *pick(ENDINGS, "which ending", text).split()]
    return tokens
