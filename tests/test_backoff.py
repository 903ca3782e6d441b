"""Back-off models of ARPA files compared with the definition."""

import numpy as np
import pytest

from punc.base.errors import InputError
from punc.models.ngram import backoff
from punc.models.ngram.backoff import LN10, read_arpa

TOKENS = ["<UNK>", "</s>", "a", "b", "ein sehr langes Wort", "c", "<COMMA>", "<s>"]
TOKENS[4] = "Wortungetüme_sind_lang"
SMALL = """\\data\\
ngram 1=4
ngram 2=2

\\1-grams:
-1\t<unk>
-0.5\ta\t-0.2
-0.7\t</s>
-99\t<s>\t-0.3

\\2-grams:
-0.25\t<s> a
-0.125\ta </s>

\\end\\
"""


def random_model(rng, order, more=()):
    """An ARPA model as {n-gram: (log10 P, back-off)}. It has the first n − 1 tokens of each n-gram."""
    words = [*TOKENS, *more]
    model = {(word,): (float(rng.uniform(-4, 0)), float(rng.uniform(-1, 1))) for word in words if word != "c"}
    for n in range(2, order + 1):
        begins = [gram for gram in model if len(gram) == n - 1]
        for _ in range(40):
            gram = (*begins[rng.integers(len(begins))], words[rng.integers(len(words))])
            if gram[-1] != "c":
                model[gram] = (float(rng.uniform(-4, 0)), float(rng.uniform(-1, 1)) if n < order else 0.0)
    return model


def write(path, model, order):
    text = "\\data\\\n" + "".join(f"ngram {n}={sum(len(g) == n for g in model)}\n" for n in range(1, order + 1))
    for n in range(1, order + 1):
        text += f"\n\\{n}-grams:\n"
        for gram, (log, weight) in model.items():
            if len(gram) == n:
                text += f"{log:.7f}\t{' '.join(gram)}" + (f"\t{weight:.7f}\n" if n < order else "\n")
    path.write_text(text + "\n\\end\\\n", encoding="utf-8")


def by_definition(model, history, word):
    if (*history, word) in model:
        return model[(*history, word)][0]
    if not history:
        return model[("<unk>",)][0] if ("<unk>",) in model else backoff.NEVER
    return model.get(tuple(history), (0, 0.0))[1] + by_definition(model, history[1:], word)


def test_log_probs_match_kenlm(tmp_path):
    """Sentences scored by KenLM's module, which needs the first and the last n − 1 tokens of an n-gram in the model."""
    kenlm = pytest.importorskip("kenlm", reason="the module kenlm, another reader of ARPA files, is not installed")
    rng = np.random.default_rng(3)
    words = [token for token in TOKENS if token not in ("c", "</s>", "<s>", "<UNK>")]  # KenLM reads <UNK> as <unk>
    model = {(word,): (float(rng.uniform(-4, 0)), float(rng.uniform(-1, 0)))
             for word in ["<unk>", "</s>", "<s>", *words]}
    for n in (2, 3):
        longer = [(*a, b[-1]) for a in model for b in model if len(a) == len(b) == n - 1 and a[1:] == b[:-1]
                  and a[-1] != "</s>" and b[-1] != "<s>" and rng.random() < 0.5]
        model |= {gram: (float(rng.uniform(-4, 0)), float(rng.uniform(-1, 0)) if n < 3 else 0.0) for gram in longer}
    write(tmp_path / "arpa", model, 3)
    ours, theirs = read_arpa(tmp_path / "arpa", TOKENS), kenlm.Model(str(tmp_path / "arpa"))
    for length in range(1, 30):
        sentence = [words[i] for i in rng.integers(0, len(words), length)]
        expected = [log * LN10 for log, *_ in theirs.full_scores(" ".join(sentence))]
        ids = [-1, TOKENS.index("<s>"), *(TOKENS.index(word) for word in sentence), TOKENS.index("</s>")]
        found = [float(ours.log_probs(ours.contexts(np.array([ids[i:i + 2]])), np.array([ids[i + 2]]))[0])
                 for i in range(length + 1)]
        np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("unknown", [True, False])
@pytest.mark.parametrize("size", [1, 200, 1 << 24])
def test_log_probs_match_definition(order, unknown, size, tmp_path, monkeypatch):
    monkeypatch.setattr(backoff, "READ_SIZE", size)
    rng = np.random.default_rng(order)
    # N-grams with words that are not among the tokens are left out.
    model = random_model(rng, order, ["other"] + ["<unk>"] * unknown)
    write(tmp_path / "arpa", model, order)
    found = read_arpa(tmp_path / "arpa", TOKENS)
    history = rng.integers(-1, len(TOKENS), (500, order))
    history[:250] = rng.integers(2, 4, (250, order))
    tokens = rng.integers(0, len(TOKENS), 500)
    expected = [by_definition(model, [TOKENS[i] if i >= 0 else "none" for i in row][-order + 1:] if order > 1 else [],
                              TOKENS[token]) * LN10 for row, token in zip(history.tolist(), tokens.tolist())]
    np.testing.assert_allclose(found.log_probs(found.contexts(history), tokens), expected, rtol=1e-4, atol=1e-4)


def test_read_arpa_leaves_out_higher_orders(tmp_path):
    model = random_model(np.random.default_rng(1), 4)
    write(tmp_path / "arpa", model, 4)
    assert [len(o.keys) for o in read_arpa(tmp_path / "arpa", TOKENS, 2).orders] == [
        len(TOKENS), sum(len(gram) == 2 for gram in model)]


@pytest.mark.parametrize("more", [0, 9])
def test_read_arpa_missing_words_share_unk(more, tmp_path):
    (tmp_path / "arpa").write_text(SMALL)
    model = read_arpa(tmp_path / "arpa", ["<UNK>", "</s>", "a", "<s>", *map(str, range(more))])
    found = model.log_probs(model.contexts(np.array([[3], [3], [2]])), np.array([2, 0, 1]))
    np.testing.assert_allclose(found, np.array([-0.25, -0.3 - 1 - np.log10(1 + more), -0.125]) * LN10, rtol=1e-6)


@pytest.mark.parametrize(("old", "new", "message"), [
    ("\\data\\", "data", "no \\data\\ here: not an ARPA file, or a truncated one; estimate it again"),
    ("ngram 1=4", "ngram 1=four", "not an ARPA file, or a truncated one; estimate it again"),
    ("ngram 1=4\nngram 2=2\n", "", "not an ARPA file, or a truncated one; estimate it again"),
    ("ngram 1=4", "ngram 1=5", "a line among the 1-grams that is not one of them; estimate it again"),
    ("\\2-grams:", "", "no \\2-grams: here: not an ARPA file, or a truncated one; estimate it again"),
    ("-0.125\ta </s>\n\n\\end\\\n", "", "it ends too early; estimate it again"),
    ("-0.125\ta </s>", "-0.125\ta", "a line among the 2-grams that is not one of them; estimate it again"),
    ("-0.125\ta </s>", "x\ta </s>", "a line among the 2-grams that is not one of them; estimate it again"),
    ("-0.125\ta </s>", "nan\ta </s>", "a line among the 2-grams that is not one of them; estimate it again"),
])
def test_read_arpa_invalid_files(old, new, message, tmp_path):
    (tmp_path / "arpa").write_text(SMALL.replace(old, new, 1))
    with pytest.raises(InputError) as error:
        read_arpa(tmp_path / "arpa", TOKENS)
    assert str(error.value) == f"{tmp_path / 'arpa'}: {message}"


@pytest.mark.parametrize(("old", "new"), [
    ("ngram 1=", "ngram 1=" + "9" * 5000), ("-1.5\ta", "-1." + "5" * 200 + "\ta")])
def test_read_arpa_numbers_of_very_many_digits(tmp_path, old, new):
    text = "\\data\\\nngram 1=3\n\n\\1-grams:\n-1.5\ta\n-1.5\t</s>\n-1.5\t<unk>\n\n\\end\\\n"
    (tmp_path / "arpa").write_text(text.replace(old, new))
    with pytest.raises(InputError, match="estimate it again"):
        read_arpa(tmp_path / "arpa", ["a", "</s>"])
