"""Names of languages, as files have them: `en`, `eng`, `en-US`, `English`."""

# ISO 639-1, ISO 639-2 and names, of languages that recognisers write most
NAMES = """
en eng english
de deu ger german deutsch
es spa spanish español espanol castilian
fr fra fre french français francais
it ita italian italiano
pt por portuguese português portugues
nl nld dut dutch nederlands
ja jpn japanese 日本語
zh zho chi chinese mandarin 中文
ko kor korean 한국어
ru rus russian русский
uk ukr ukrainian
pl pol polish polski
cs ces cze czech
et est estonian eesti
fi fin finnish suomi
sv swe swedish svenska
da dan danish dansk
no nor norwegian norsk nb nn
tr tur turkish türkçe
ar ara arabic
he heb hebrew
hi hin hindi
el ell gre greek
hu hun hungarian magyar
ro ron rum romanian
vi vie vietnamese
ca cat catalan català
"""
CODES = {name: line.split()[0] for line in NAMES.strip().splitlines() for name in line.split()}


def language_code(name: str) -> str:
    """The two letters of a language; empty if the name is of none that is known."""
    first = name.strip().strip("<|>").lower().replace("_", "-")
    return CODES.get(first, CODES.get(first.partition("-")[0], ""))
