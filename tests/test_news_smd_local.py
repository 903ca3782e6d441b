"""The scripts of egs/news_smd are run on made-up text, and its conf files and published figures are checked."""

import importlib
import sys
from pathlib import Path

import pytest
from test_recipe import made, script

from punc.bin.main import main
from punc.bin.train import options as train_options
from punc.data.datadir import DataDir

RECIPE = Path(__file__).parents[1] / "egs/news_smd"
LOCAL = RECIPE / "local"


def load(name):
    sys.path.insert(0, str(LOCAL))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(LOCAL))


TEXTS, SENTENCES, MESSAGES, INFORMAL, MIXTURE, MATCHED = map(
    load, ("texts", "sentences", "messages", "informal", "mixture", "matched"))


@pytest.mark.parametrize(("line", "texts"), [
    ("He paid 3.5 mln. She left at 10:30! Why?", ["he paid 3.5 mln.", "she left at 10:30.", "why?"]),
    ("The U.S. Treasury, Mr. J. Smith said, won. \"Good.\" He left.",
     ["the u.s treasury, mr j smith said, won.", "good.", "he left."]),
    ("Is it, e.g., a pre-war - or new - 1,000? (Yes.) Then go", ["is it, e.g, a pre-war or new 1,000?", "yes.", ""]),
    ("\"Why?\" he asked. no capital, no end.", ["why? he asked no capital, no end."]),
    ("Stop... Now?!", ["stop.", "now?"]),
    ("... ?!", [""]),
    ("", []),
    ("Cafe\u0301 \u200fshalom\u200e \U0001f600 x\u0301\x07.", ["café shalom x."]),
    ("a" * 50_000 + ".", [""]),
    ("\u200f \U0001f600 \u0301", []),
    ("a " * 61 + ".", [""]),
])
def test_sentence_reader_sentences(line, texts):
    assert list(TEXTS.SentenceReader().sentences(line)) == texts


def test_texts_read_back_by_prepare(tmp_path):
    reader = TEXTS.SentenceReader()
    line = "The U.S. paid 3.5, e.g. $10,000 at 10:30 and/or 7 p.m.! Isn't it? It's (well) \"so-called\" AT&T\u200f, no?"
    texts = [text for text in reader.sentences(line) if text]
    (tmp_path / "raw.txt").write_text("\n".join(texts) + "\n")
    assert main(["prepare", "--format", "prose", "--utt-words", "0", "--independent", "true", "--nj", "1", "--labels",
                 str(RECIPE / "conf/labels.txt"), str(tmp_path / "raw.txt"), str(tmp_path / "data")]) == 0
    utterances = list(DataDir(tmp_path / "data").utterances())
    assert [TEXTS.join(u.words, u.labels) for u in utterances] == texts
    assert [u.words for u in utterances] == [TEXTS.words_of(text) for text in texts]
    assert len({u.stream for u in utterances}) == len(texts) > 1


STANDARD = frozenset(("where", "are", "you", "coming", "now", "ok", "i", "am", "late", "let's", "go", "at", "the",
                      "money", "is", "see"))


@pytest.mark.parametrize(("message", "text"), [
    ("Where are you?", "where are you?"),
    ("I am late...", "i am late."),
    ("OK, I am coming!!! :-)", "ok, i am coming."),
    ("Where are you ?? =D", "where are you?"),
    ("Let’s go \U0001f600!", "let's go."),
    ("The money is $3.50, at 10:30.", "the money is $3.50, at 10:30."),
    ("See you at 7pm.", "see you at 7pm."),
])
def test_message_filter_keeps(message, text):
    assert MESSAGES.MessageFilter(STANDARD).text(message) == text


@pytest.mark.parametrize(("message", "reason"), [
    ("I am late", "no mark at the end"),
    (":)", "empty"),
    ("", "empty"),
    ("?!", "fewer than two words"),
    ("\u200f...", "fewer than two words"),
    ("ok.. where are you?", "periods inside"),
    ("I am late. Where are you?", "more than one sentence"),
    ("I am late.Where are you?", "more than one sentence"),
    ("See you at <#>.", "characters that are not said"),
    ("m coming now.", "beginning cut off"),
    ("You are late 2.", "number of one digit"),
    ("where r you?", "words that are not standard"),
    ("Ok.", "fewer than two words"),
    ("x" * 50_000 + ".", "fewer than two words"),
])
def test_message_filter_leaves_out(message, reason):
    found = MESSAGES.MessageFilter(STANDARD)
    assert found.text(message) == ""
    assert found.counts == {reason: 1}


def test_informal_questions_of_statements():
    made = {text: INFORMAL.Informal().make(text, True) for text in
            ("you can see my house.", "i am late for my train.", "we need more time.", "no pronoun here.")}
    assert made["no pronoun here."] == ""
    for words in (("can", "you"), ("are", "your"), ("need", "time")):
        assert any(set(words) <= set(TEXTS.words_of(text)) and text.endswith("?") for text in made.values())


def test_informal_statements():
    informal = INFORMAL.Informal()
    texts = [f"i do not know what we can purchase in shop {name}." for name in "abcdefghijklmnopqrstuvwxyz"]
    made = [informal.make(text, False) for text in texts]
    assert all("don't know what we can buy in shop" in text for text in made)
    assert {"i don't" in text for text in made} == {True, False}
    assert all(text.endswith(".") and text.count(".") == 1 for text in made)
    assert informal.make("i thank the commission.", False) == informal.make("the end is near.", False) == ""
    assert informal.make("i know how late it is.", False).endswith("it is.")


def corpus(place):
    for name in ("news_smd", "europarl", "iwslt_ted", "podcasts"):
        (place / name).mkdir(parents=True)
    colours = [a + b for a in ("red", "blue", "green", "grey", "pink") for b in "abcdefghij"]
    news = "".join(f"#doc {i} TRAIN\nShares <BA> of {c} Co rose 3.5 pct, it said. It {c} fell.\n"
                   for i, c in enumerate(colours))
    (place / "news_smd/reuters21578.txt").write_text(news)
    debate = "".join(f"#doc {c}\n#speaker Mr {c}.\nI want {c}. What is {c}? You are {c} today. Can we go {c} now?\n"
                     for c in colours)
    (place / "europarl/europarl.en.txt").write_text(debate)
    talks = "".join(f'<doc docid="{c}">\n<seg id="1"> (Laughter) We like {c} talks. Do you like {c} talks? </seg>\n'
                    for c in colours)
    for part in ("train2012", "dev2012"):
        (place / f"iwslt_ted/TED.{part}.cased.xml").write_text(talks)
    for name in ("changelog", "bitcoin"):
        (place / f"podcasts/{name}.txt").write_text("".join(
            f"#doc {name}{c}\n#speaker A\nSo, {c} {name}. Yeah.\n#speaker B\nReally {c} {name}? It {c} {name}s.\n"
            for c in colours))
    (place / "iwslt_ted/train_extra").write_text("i\tO\ndo\tO\nn't\tO\nknow\tCOMMA\nnew\tQUESTION\n")
    messages = "".join(f"{i // 2}\tSG\t1\tno\tx\tWhat is the time in {i + 10}? Ok la\n"
                       f"{i}\tSG\t1\tno\tx\tI like {i + 10}.\n" for i in range(40))
    (place / "news_smd/nus_sms_en.tsv").write_text(f"id\tcountry\tage\tnative\tmethod\ttext\n{messages}")
    return place


def test_sentences_sources(tmp_path):
    SENTENCES.main(corpus(tmp_path / "corpus"), tmp_path)
    assert (tmp_path / "news.txt").read_text().splitlines()[:3] == [
        "#doc 0 TRAIN", "shares of reda co rose 3.5 pct, it said.", "it reda fell."]
    assert (tmp_path / "ted.txt").read_text().splitlines()[-2:] == ["#doc extra0000", "i don't know, new?"]
    assert "president" not in (tmp_path / "europarl.txt").read_text()
    assert (tmp_path / "podcasts.txt").read_text().splitlines()[:7] == [
        "#doc changelogreda", "", "so, reda changelog.", "yeah.", "", "really reda changelog?", "it reda changelogs."]
    assert "changelog" not in (tmp_path / "words.txt").read_text()
    documents = dict(TEXTS.read_documents(tmp_path / "messages.txt"))
    assert documents["0"] == ["what is the time in 10?", ""]
    assert documents["0.2"] == ["i like 10."]


def test_matched_disjoint_and_half_questions(tmp_path):
    SENTENCES.main(corpus(tmp_path / "corpus"), tmp_path)
    MATCHED.main(tmp_path, tmp_path / "raw", 100, 30)
    sets = {path.stem: path.read_text().splitlines() for path in (tmp_path / "raw").iterdir()}
    for kind in ("matched", "multi"):
        sentences = {name: {TEXTS.key(sentence + mark) for text in sets[f"{name}_{kind}"]
                            for sentence, mark in zip(text.replace("?", "?|").replace(". ", ".| ").split("|"), "..")
                            if sentence.strip()} for name in MATCHED.SETS}
        assert not sentences["train"] & sentences["test"]
        assert not sentences["train"] & sentences["dev"]
        assert not sentences["dev"] & sentences["test"]
    for name in MATCHED.SETS:
        texts = sets[f"{name}_matched"]
        assert 0 < 2 * sum(map(TEXTS.is_question, texts)) == len(texts) == len(set(map(TEXTS.key, texts)))
        assert all(len(text) <= MATCHED.MAX_TEXT and 2 <= len(text.replace("?", ".").rstrip(".").split(". ")) <= 4
                   for text in sets[f"{name}_multi"])


def test_mixture_questions_and_messages(tmp_path, monkeypatch):
    (tmp_path / "conf").mkdir()
    for file in (RECIPE / "conf").glob("*.txt"):
        (tmp_path / "conf" / file.name).write_bytes(file.read_bytes())
    (tmp_path / "conf/sms_test_ids").write_text("# comment\n7\n9.2\n")
    monkeypatch.setattr(MIXTURE, "CONF", tmp_path / "conf")
    monkeypatch.setattr(MIXTURE, "IN_DOMAIN", 0.03)
    SENTENCES.main(corpus(tmp_path / "corpus"), tmp_path)
    (tmp_path / "messages").write_text("7\tit reda fell.\n9\twhere?\n9.2\tnow?\n11\tsoon.\n12\tlate.\n13\tok.\n")
    for out in ("one", "two"):
        MIXTURE.main(tmp_path, tmp_path / "messages", tmp_path / out, 0, 0, 0)
    sets = {path.stem: path.read_text().splitlines() for path in (tmp_path / "one").iterdir()}
    assert sets["test_messages"] == ["it reda fell.", "now?"]
    mixture = sets["train_mixture"] + sets["dev_mixture"]
    assert sum(map(TEXTS.is_question, mixture)) / len(mixture) == pytest.approx(MIXTURE.QUESTIONS, abs=0.01)
    assert len(set(map(TEXTS.key, mixture))) == len(mixture)
    assert "it reda fell." not in mixture
    assert 100 * MIXTURE.QUESTIONS < sum("really" in text for text in mixture) <= 100
    added = set(sets["train_in_domain"]) - set(sets["train_mixture"])
    assert len(added) == min(round(0.03 * len(sets["train_mixture"])), 4)
    assert added <= {"where?", "soon.", "late.", "ok."}
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_mixture_text_of_the_language_model_is_of_other_documents(tmp_path):
    SENTENCES.main(corpus(tmp_path / "corpus"), tmp_path)
    path, seen = tmp_path / "europarl.txt", set()
    for_lm = set(MIXTURE.other(path, seen))
    assert 0.5 < len(for_lm) / 200 < 1
    colours = {text.split()[-1].rstrip("?") for text in for_lm if text.startswith("what is")}
    made = [text for _, _, text in MIXTURE.synthetic([path], seen)]
    assert made
    assert not any(colour in text.split() for text in made for colour in colours)
    assert not list(MIXTURE.other(path, seen | set(map(TEXTS.key, for_lm))))


def test_our_marks_are_those_of_the_table(capsys):
    load("our_marks").main(str(RECIPE / "README.md"), str(RECIPE / "conf/published.tsv"))
    computed = [line for line in (RECIPE / "conf/published.tsv").read_text().splitlines() if "(our marks)" in line]
    assert capsys.readouterr().out.splitlines() == computed
    assert len(computed) == 14


def test_published_systems_have_confs():
    lines = (RECIPE / "conf/published.tsv").read_text().splitlines()
    rows = {line.split("\t")[0].removesuffix(" (our marks)") for line in lines
            if not line.startswith(("#", "system\t"))}
    assert rows <= {path.stem for path in (RECIPE / "conf").glob("*/*.conf")}


ROWS = sorted(path for path in (RECIPE / "conf").glob("*/*.conf") if path.name != "sets.conf")


@pytest.mark.parametrize("path", ROWS, ids=[f"{path.parent.name}-{path.stem}" for path in ROWS])
def test_row_confs_are_read_by_punc_train(path):
    arguments = ["--config", str(path), "store", "exp"]
    options = train_options(train_options().value(arguments, "--model")).parse(arguments)
    sets = "in_domain" if path.stem.endswith("+in-domain") else path.parent.name
    assert options.dev_set == f"dev_{sets}"
    assert options.train_set == ("europarl" if path.stem == "4-gram" else f"train_{sets}")
    if options.model not in ("ngram", "word_crf"):
        assert (options.epochs, options.batch_size, options.schedule) == (1, 8, "linear"), "one table, one training"


# local/rows.sh

def row_script(tmp_path, body):
    return script(tmp_path, f". {LOCAL}/rows.sh\n{body}")


def test_tune_takes_the_lowest_dev_loss(tmp_path):
    (tmp_path / "conf").touch()
    for choice, losses in (("c1=1,c2=0.1", "0.30000 0.25000"), ("c1=2,c2=0.1", "0.09000"), ("c1=3,c2=1", "0.26000")):
        made(tmp_path, f"exp/tune/{choice}/log/train.log")
        (tmp_path / f"exp/tune/{choice}/log/train.log").write_text(
            "".join(f"epoch 1: rate 1, loss 0.01, dev loss {loss}, dev F1 1\n" for loss in losses.split()))
    body = ("cmd=true; tune conf store exp 'c1=1,c2=0.1 c1=2,c2=0.1 c1=3,c2=1' --epochs 1; cat exp/tuned.conf;"
            "cmd=./run.pl; train conf store exp $(tuned exp)")
    assert row_script(tmp_path, body) == ([
        "# dev loss 0.25000 c1=1,c2=0.1", "# dev loss 0.09000 c1=2,c2=0.1", "# dev loss 0.26000 c1=3,c2=1", "--c1=2",
        "--c2=0.1", "exp/log/train.log punc train --config conf --c1=2 --c2=0.1 store exp"], "", 0)


@pytest.mark.parametrize(("best", "tried"), [
    ("0.002", "0.001 0.002 0.004"),
    ("0.0005", "0.00025 0.0005 0.001 0.002 0.004"),
    ("0.008", "0.001 0.002 0.004 0.008 0.016"),
])
def test_tune_rate_goes_on_while_the_best_is_at_an_end(tmp_path, best, tried):
    made(tmp_path, "conf")
    body = f"best={best};" """train() {
      mkdir -p "$3/log"
      awk -v rate="${3##*=}" -v best="$best" 'BEGIN { print "dev loss", 1 + log(rate / best) ^ 2 }' >"$3/log/train.log"
      echo "${@:4}"
    }
    tune_rate conf store exp "0.001 0.002 0.004" --epochs 1 | sort -u; tuned exp"""
    lines, said, code = row_script(tmp_path, body)
    assert (lines[-1], said, code) == (f"--learning-rate={best}", "", 0)
    assert sorted(lines[:-1]) == sorted(f"--epochs 1 --learning-rate={rate}" for rate in tried.split())


TUNED = "cmd=true; tune conf store exp 'c1=1 c1=2'; cmd=./run.pl; sleep 0.02; "


def tried(directory):
    made(directory, "conf", "store/conf")
    for choice, loss in (("c1=1", "0.3"), ("c1=2", "0.2")):
        trial = directory / "exp/tune" / choice
        for name in ("log/train.log", "vocab", "final.pt"):
            made(directory, f"exp/tune/{choice}/{name}")
            (trial / name).write_text(f"{choice}, dev loss {loss}\n")


def test_a_chosen_trial_becomes_the_model(tmp_path):
    tried(tmp_path)
    body = f"{TUNED} take_trial exp; train conf store exp $(tuned exp)"
    assert row_script(tmp_path, body) == ([], "", 0)
    for name in ("log/train.log", "vocab", "final.pt"):
        assert (tmp_path / "exp" / name).read_text() == "c1=2, dev loss 0.2\n"
    assert not (tmp_path / "exp/final.pt.new").exists()


def test_a_model_that_is_older_than_its_choice_is_trained(tmp_path):
    tried(tmp_path)
    body = f"{TUNED} touch exp/final.pt; train conf store exp $(tuned exp); {TUNED}"
    again = "train conf store exp $(tuned exp)"
    # The same choice is not written again, so its file stays older than the model.
    assert row_script(tmp_path, f"{body} {again}") == ([], "", 0)
    (tmp_path / "exp/tune/c1=1/log/train.log").write_text("dev loss 0.1\n")
    line = "exp/log/train.log punc train --config conf --c1=1 store exp"
    assert row_script(tmp_path, f"{TUNED} {again}") == ([line], "", 0)
