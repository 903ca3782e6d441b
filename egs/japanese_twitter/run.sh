#!/usr/bin/env bash
# Japanese without word boundaries: FC-LSTM, Bi-LSTM and Bi-LSTM with local attention on characters (Chen, Wu & Su), and
# on pieces of characters; trained on single sentences and on texts of several.
#
#   ./run.sh --posts FILE                  # your own posts, one a line
#   ./run.sh --corpus DIR                  # DIR has open2ch_posts.txt, tatoeba_manythings.txt and
#                                          # tanaka_small_parallel_enja.txt, or some of them (README.md)
#   ./run.sh --corpus DIR --systems "Bi-LSTM Bi-LSTM-A" --texts multi
#   ./run.sh --corpus DIR --stage 6        # from there on; what is finished is not done again
set -euo pipefail
from=$PWD
cd "$(dirname "$0")"

stage=0
stop_stage=100
corpus=               # where the corpora are
posts=                # posts, one a line; those of the corpus if empty
line_breaks=stop      # what __BR__ is in a post: stop, the end of a sentence, or drop, nothing
test=10000            # sentences of the test set
dev=5000              # sentences of the development set
texts="single multi"  # what is trained on: single sentences, texts of 2 to 5
systems=              # names of conf/*.conf with blanks between; all if empty
characters=6797       # of the vocabulary, at most (section 3.1 of the paper)
min_count=2           # occurrences of a character that the vocabulary has; the others are unknown; first guess
pieces=8000           # of the vocabulary of Subword-Bi-LSTM; first guess
epochs=               # at most; as the conf files say if empty
threads=0             # of PyTorch; 0: as many as cores
seed=1                # of what text is in which set
nj=2                  # processes for text
help_message="usage: $0 --posts FILE | --corpus DIR [--line-breaks stop|drop] [--test N] [--dev N] [--texts NAMES]
  [--systems NAMES] [--epochs N] [--stage N] [--stop-stage N] [--threads N] [--nj N]"

. ./cmd.sh
. ./path.sh
. parse_options.sh
. recipe.sh

# A user's path is relative to where the user is.
case $corpus in '' | /*) ;; *) corpus=$from/$corpus ;; esac
case $posts in '' | /*) ;; *) posts=$from/$posts ;; esac
[ -n "$posts" ] || [ ! -f "$corpus/open2ch_posts.txt" ] || posts=$corpus/open2ch_posts.txt
labels=conf/labels.txt
order="FC-LSTM-w1 FC-LSTM-w2 FC-LSTM-w4 Bi-LSTM Bi-LSTM-A Bi-LSTM-A9 Bi-LSTM-A15 Bi-LSTM-A31 Bi-LSTM-A-sum Subword-Bi-LSTM"
systems=${systems:-$order}
case " $systems " in *" Subword-"*) with_pieces=true ;; *) with_pieces= ;; esac
row_of() { if [ "$2" = single ]; then echo "$1"; else echo "$1+$2"; fi; }

# Stage 0: see which texts there are.
if runs 0; then
  sentences=()
  for name in tatoeba_manythings tanaka_small_parallel_enja; do
    [ -z "$corpus" ] || [ ! -f "$corpus/$name.txt" ] || sentences+=("$corpus/$name.txt")
  done
  [ -f "$posts" ] || [ ${#sentences[@]} -gt 0 ] || { echo "$0: no text; give --posts FILE or --corpus DIR" >&2; exit 1; }
fi

# Stage 1: sentences and texts of several, no sentence in two sets, and their data directories: every character is a word,
# every text a stream. What is in data is kept, if it was made of the same texts.
if runs 1; then
  made="posts '$posts', sentences '${sentences[*]:-}', $line_breaks, $test, $dev, $seed"
  mkdir -p data
  if [ ! -f data/raw/.made ]; then
    local/make_texts.py --labels $labels --posts "$posts" --line-breaks "$line_breaks" --test "$test" --dev "$dev" \
      --seed "$seed" data/raw ${sentences[@]+"${sentences[@]}"} | tee data/sentences.log
    echo "$made" >data/raw/.made
  elif [ "$(cat data/raw/.made)" != "$made" ]; then
    echo "$0: data was made of other texts ($(cat data/raw/.made)); remove data and exp, or give those" >&2
    exit 1
  fi
  for text in data/raw/*.txt; do
    set=$(basename "$text" .txt)
    [ -f "data/$set/punct" ] || punc prepare --format characters --utt-words 0 --independent true --labels $labels \
      --nj "$nj" "$text" "data/$set"
    punc validate --labels $labels "data/$set"
  done
fi

# Stage 2: there is no audio to align; cut the texts into pieces, and count the marks that are inside one.
if runs 2 && [ -n "$with_pieces" ]; then
  for kind in $texts; do
    [ -s "data/pieces_$kind.model" ] ||
      $cmd "data/log/pieces_$kind.log" local/subwords.py train "data/train_$kind" "data/pieces_$kind.model" "$pieces"
    for set in "train_$kind" "dev_$kind" test_single test_multi; do
      out=data/${set}_pieces_$kind
      [ -f "$out/punct" ] || local/subwords.py tokenize "data/pieces_$kind.model" "data/$set" "$out"
    done
  done
fi

# Stage 3: the characters of the training texts, with one token for Latin words and one for numbers, and all texts as
# their numbers; the same for pieces.
if runs 3; then
  for kind in $texts; do
    options=(--token-type class --min-count "$min_count" --labels "$labels" --nj "$nj")
    punc make-store "${options[@]}" --vocab-size "$characters" \
      "data/store_$kind" "data/train_$kind" "data/dev_$kind"
    [ -z "$with_pieces" ] || punc make-store "${options[@]}" --vocab-size "$pieces" \
      "data/store_pieces_$kind" "data/train_${kind}_pieces_$kind" "data/dev_${kind}_pieces_$kind"
  done
fi

# Stage 4: train.
if runs 4; then
  for kind in $texts; do
    for system in $systems; do
      unit='' out=exp/$kind/$system
      case $system in Subword-*) unit=_pieces_$kind ;; esac
      train_model "$out" "data/store${unit:+_pieces}_$kind" "conf/$system.conf" ${epochs:+--epochs "$epochs"} \
        --threads "$threads" --train-set "train_$kind$unit" --dev-set "dev_$kind$unit"
    done
  done
fi

# Stage 5: models with pauses; these texts have none.

# Stage 6: punctuate the test sets and score them; of texts of several sentences also without the slot at their end.
if runs 6; then
  for kind in $texts; do
    for system in $systems; do
      exp=exp/$kind/$system
      for set in test_single test_multi; do
        out=$exp/decode_$set score=exp/results/$(row_of "$system" "$kind")/decode_$set input=data/$set
        case $system in Subword-*) out=${out}_pieces input=${input}_pieces_$kind ;; esac
        [ "$out/punct" -nt "$exp/final.pt" ] ||
          $cmd "$exp/log/decode_$set.log" punc punctuate --posteriors false --nj "$nj" "$exp" "$input" "$out"
        case $system in Subword-*)
          local/subwords.py detokenize "data/$set" "$out" "$exp/decode_$set" && out=$exp/decode_$set ;;
        esac
        $cmd "$exp/log/score_$set.log" punc score --labels $labels "data/$set" "$out" "$score/score"
        [ $set = test_single ] || $cmd "$exp/log/score_${set}_mid.log" \
          punc score --labels $labels --last-slot false "data/$set" "$out" "${score}_mid/score"
      done
    done
  done
fi

# Stage 7: all figures into RESULTS.tsv, and with the published ones beside them into RESULTS.md.
if runs 7; then
  rows=
  for kind in $texts; do for system in $systems; do rows+=" $(row_of "$system" "$kind")"; done; done
  compare=()
  for kind in $texts; do
    for pair in Bi-LSTM-A,Bi-LSTM Bi-LSTM,FC-LSTM-w4 FC-LSTM-w4,FC-LSTM-w2 Bi-LSTM-A,Bi-LSTM-A-sum; do
      first=$(row_of "${pair%,*}" "$kind") second=$(row_of "${pair#*,}" "$kind")
      [ ! -d "exp/results/$first" ] || [ ! -d "exp/results/$second" ] || compare+=(--compare "$first,$second")
    done
  done
  punc results --title "Japanese posts and sentences" --command "./run.sh --corpus DIR" --systems "$rows" \
    --published conf/published.tsv --sets "test_single test_multi test_multi_mid" --columns "C P Q E N overall" \
    ${compare[@]+"${compare[@]}"} \
    --notes conf/notes.md exp/results RESULTS
  cat RESULTS.md
fi
