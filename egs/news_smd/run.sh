#!/usr/bin/env bash
# Newswire and short messages: character-level models for punctuation, and word-level ones (Gale & Parthasarathy 2017).
#
#   ./run.sh --corpus DIR                                      # DIR has news_smd/, europarl/ and iwslt_ted/ (README.md)
#   ./run.sh --corpus DIR --experiments "1 2"                  # of the paper's tables; 4 is tables 4 and 5
#   ./run.sh --corpus DIR --systems "Delay Bi-LSTM" --epochs 2
#   ./run.sh --corpus DIR --stage 6                            # from there on; what is finished is not done again
set -euo pipefail
from=$PWD
cd "$(dirname "$0")"

stage=0
stop_stage=100
corpus=corpus         # where the corpora are
experiments="1 2 3 4" # 1 news and synthetic texts, 2 with in-domain data, 3 matched sentences, 4 matched longer texts
systems=              # names of conf/*.conf with blanks between; all if empty
epochs=               # so many, the rate falling to 0 over them; as the conf files say if empty
news=0                # sentences of news in the mixture; 0: all
synthetic=0           # informal texts beside them; 0: as many as make 18.9 % of the mixture questions
train=100000          # matched sentences to train on, at most; questions set the limit
held_out=10000        # matched sentences of dev, and of test
clusters=             # Brown clusters of words for the CRF, as Liang's wcluster writes paths; made of the mixture if empty
text_model=           # a 4-gram for features of the CRF, trained on other text than this with the same vocabulary; none if empty
min_count=2           # occurrences of a word that the vocabulary of the word models has; first guess
threads=1             # of PyTorch
nj=2                  # processes for text
help_message="usage: $0 --corpus DIR [--experiments '1 2 3 4'] [--systems NAMES] [--epochs N] [--news N] [--synthetic N]
  [--train N] [--held-out N] [--clusters FILE] [--text-model EXP-DIR] [--stage N] [--stop-stage N] [--threads N] [--nj N]"

. ./cmd.sh
. ./path.sh
. parse_options.sh
. recipe.sh

case $corpus in /*) ;; *) corpus=$from/$corpus ;; esac
case $clusters in '') clusters=data/clusters.txt ;; /*) ;; *) clusters=$from/$clusters ;; esac
case $text_model in '' | /*) ;; *) text_model=$from/$text_model ;; esac
labels=conf/labels.txt
words="Word-CRF Word-CRF-no-triggers Word-Delay Word-N-gram"
cnns="CNN-Feature CNN-Feature-440 CNN-Ngram CNN-Ngram-440 Dilated-CNN"
order="$words Delay Delay+in-domain N-gram $cnns Bi-LSTM"
systems=${systems:-$order}

# What each experiment trains, on which sets (train_ and dev_), and what it is tested on.
trained=([1]="$words Delay" [2]=Delay [3]="Delay N-gram $cnns Bi-LSTM"
  [4]="Delay N-gram Bi-LSTM")
sets_of=([1]=mixture [2]=in_domain [3]=matched [4]=multi)
test_of=([1]=test_messages [2]=test_messages [3]=test_matched [4]=test_multi)

# each COMMAND …: runs it with SYSTEM SETS TEST ROW behind, for each system of each experiment that is asked for.
each() {
  local number system row
  for number in $experiments; do
    for system in ${trained[number]}; do
      row=$system$([ "$number" != 2 ] || echo +in-domain)
      ! asked "$system" || "$@" "$system" "${sets_of[number]}" "${test_of[number]}" "$row"
    done
  done
}

# Stage 0: see that the corpora are there, and that they are those of README.md.
if runs 0; then check_corpus.sh "$corpus" conf/corpus.txt; fi

# Stage 1: the texts of all sets, and their data directories; every text is a stream of its own.
if runs 1; then
  local/prepare_texts.sh "$corpus" "$news" "$synthetic" "$train" "$held_out"
  for text in data/raw/*.txt; do
    set=$(basename "$text" .txt)
    [ -f "data/$set/punct" ] || punc prepare --format prose --utt-words 0 --independent true --labels $labels \
      --nj "$nj" "$text" "data/$set"
    punc validate --labels $labels "data/$set"
  done
fi

# Stage 2: there is no audio to align; count what there is.
if runs 2; then
  local/count_sets.py data/{train,dev}_{mixture,in_domain} data/test_messages data/{train,dev,test}_{matched,multi} |
    tee data/counts.md
fi

# Stage 3: the characters, and for experiment 1 the words, of the training texts, with all texts as their numbers.
store() {
  local unit=$1 name=$2 sets=$3
  punc make-store --token-type "$unit" --labels $labels --train "train_$sets" --nj "$nj" "${@:4}" \
    "data/store_${name}_$sets" "data/train_$sets" "data/dev_$sets"
}
if runs 3; then
  for number in $experiments; do store char char "${sets_of[number]}"; done
  case " $experiments " in *" 1 "*)
    store word word mixture --min-count "$min_count"
    store word all_words mixture ;; # of the CRF, which leaves out rare features by itself
  esac
fi

# Stage 4: train, for the CRF also the clusters of words that it reads.
train_system() {
  local system=$1 sets=$2 store=data/store_char_$2 out=exp/$2/$1 options=(--threads "$threads")
  case $system in
    Word-CRF*)
      store=data/store_all_words_$sets options=(--clusters "$clusters" ${text_model:+--text-model "$text_model"})
      [ -s "$clusters" ] || $cmd data/log/clusters.log python local/train_clusters.py "data/train_$sets" "$clusters"
      ;;
    Word-*) store=data/store_word_$sets ;;
  esac
  case $system in Word-CRF*) ;; *) options+=(${epochs:+--epochs "$epochs" --schedule linear}) ;; esac
  train_model "$out" "$store" "conf/$system.conf" "${options[@]}" --train-set "train_$sets" --dev-set "dev_$sets"
}
if runs 4; then each train_system; fi

# Stage 5: models with pauses; these texts have none.

# Stage 6: punctuate the test sets and score them: all slots, and of longer texts those inside too.
decode() {
  local system=$1 sets=$2 test=$3 row=$4
  local model=exp/$sets/$system out=exp/$sets/$system/decode_$test scores=exp/results/$row/decode_$test
  [ "$out/punct" -nt "$model/final.pt" ] ||
    $cmd "$model/log/decode_$test.log" punc punctuate --posteriors false --nj "$nj" "$model" "data/$test" "$out"
  $cmd "$model/log/score_$test.log" punc score --labels conf/labels.txt "data/$test" "$out" "$scores/score"
  [ "$test" != test_multi ] || $cmd "$model/log/score_${test}_mid.log" \
    punc score --labels conf/labels.txt --last-slot false "data/$test" "$out" "${scores}_mid/score"
}
if runs 6; then each decode; fi

# Stage 7: all figures into RESULTS.tsv, and with the published ones beside them into RESULTS.md.
if runs 7; then
  commands='./run.sh --corpus DIR --experiments 1 --systems "Word-CRF Word-CRF-no-triggers"
./run.sh --corpus DIR --experiments 1 --systems "Word-Delay Word-N-gram" --epochs 3
./run.sh --corpus DIR --experiments "1 2" --systems Delay --epochs 3
./run.sh --corpus DIR --experiments 3 --systems "Delay N-gram CNN-Feature-440 CNN-Ngram-440 Dilated-CNN Bi-LSTM" --epochs 2
./run.sh --corpus DIR --experiments 4                          # Bi-LSTM stopped after four epochs'
  compare=()
  for pair in Delay,Word-CRF Word-CRF,Word-CRF-no-triggers Delay+in-domain,Delay Bi-LSTM,Delay Delay,N-gram; do
    [ ! -d "exp/results/${pair%,*}" ] || [ ! -d "exp/results/${pair#*,}" ] || compare+=(--compare "$pair")
  done
  punc results --title "Newswire, short messages and matched texts" --command "$commands" \
    --published conf/published.tsv --systems "$order" \
    --sets "test_messages test_matched test_multi test_multi_mid" --columns "PERIOD QUESTION COMMA overall" \
    "${compare[@]}" --notes conf/notes.md exp/results RESULTS
  cat RESULTS.md
fi
