#!/usr/bin/env bash
# Aligns recordings with the words of data directories, using an aligner of your choice:
#
#   utils/align_audio.sh [--aligner NAME] [options] AUDIO-DIR OUT-DIR DATA-DIR …
#
# reads AUDIO-DIR/STREAM.wav for the streams of the data directories, writes OUT-DIR/corpus/STREAM.{wav,txt}, and makes
# the aligner write OUT-DIR/times, which punc pauses reads. docs/from-audio.md describes how to get each aligner.
#
#   --aligner pocketsphinx   for a first look; all other aligners are better. Needs pip install 'punc-toolkit[speech]'.
#                            For English; for other languages, give --acoustic-model DIR --dictionary FILE
#                            --language-model FILE
#   --aligner mfa            the Montreal Forced Aligner: --dictionary, --acoustic-model (default: english_us_arpa)
#   --aligner gentle         Gentle, for English, with --gentle URL (default: http://localhost:8765)
#   --aligner kaldi          Kaldi's align_si.sh. --kaldi DIR is a recipe with steps/ and utils/; relative to it are
#                            --lang data/lang and --acoustic-model exp/tri3b. --uppercase true: for an upper-case lexicon
set -euo pipefail

aligner=pocketsphinx
acoustic_model=
dictionary=
language_model=
gentle=http://localhost:8765
kaldi=
lang=data/lang
uppercase=false
nj=1
cmd=run.pl
help_message="usage: $0 [--aligner pocketsphinx|mfa|gentle|kaldi] AUDIO-DIR OUT-DIR DATA-DIR …"

. quote.sh
. parse_options.sh

fail() {
  echo "$0: $*" >&2
  exit 1
}

[ $# -ge 3 ] || { echo "$help_message" >&2; exit 1; }
[ -d "$1" ] || fail "$1: no such directory; give the directory with the recordings, NAME.wav"
audio=$(cd "$1" && pwd -P)
mkdir -p "$2"
out=$(cd "$2" && pwd -P)
shift 2
corpus=$out/corpus
export LC_ALL=C

need() { command -v "$1" >/dev/null || fail "no $1; $2"; }

# make_corpus DATA-DIR …: links each recording and writes its text. An unchanged text file keeps its modification time.
make_corpus() {
  local file stream missing=()
  rm -rf "$out/new"
  mkdir -p "$corpus" "$out/new"
  for data in "$@"; do
    [ -f "$data/text" ] || fail "$data/text: no such file; make the data directory first"
    awk -v out="$out/new" -v upper="$uppercase" '
      NR == FNR { stream[$1] = $2; next }
      {
        if (last != stream[$1]) { close(file); last = stream[$1]; file = out "/" last ".txt" }
        $1 = ""
        print (upper == "true" ? toupper(substr($0, 2)) : substr($0, 2)) >>file
      }' "$data/utt2spk" "$data/text"
  done
  for file in "$out"/new/*.txt; do
    stream=$(basename "$file" .txt)
    if [ ! -e "$audio/$stream.wav" ]; then
      missing+=("$stream")
      continue
    fi
    ln -sf "$audio/$stream.wav" "$corpus/"
    cmp -s "$file" "$corpus/$stream.txt" || mv "$file" "$corpus/"
  done
  rm -rf "$out/new"
  [ ${#missing[@]} = 0 ] || echo "$0: no recording of ${#missing[@]} texts: ${missing[*]:0:3}" >&2
  compgen -G "$corpus/*.wav" >/dev/null || fail "$audio: no recording of these texts; give each recording the name of its text, NAME.wav"
}

align_pocketsphinx() {
  python -c 'import pocketsphinx' 2>/dev/null || fail "no pocketsphinx; pip install 'punc-toolkit[speech]'"
  quote ${acoustic_model:+--hmm "$acoustic_model"} ${dictionary:+--dict "$dictionary"} \
    ${language_model:+--lm "$language_model"}
  local models=("${quoted[@]}")
  quote "$corpus" "$out/times"
  $cmd JOB=1:"$nj" "$out/log/align.JOB.log" align_pocketsphinx.py "${models[@]}" JOB "$nj" "${quoted[@]}"
  grep -h "not in the dictionary\|recognised" "$out"/log/align.*.log >&2 || :
}

align_mfa() {
  need mfa "conda create -n mfa -c conda-forge montreal-forced-aligner, then conda activate mfa"
  mfa align --clean --num_jobs "$nj" "$corpus" "${dictionary:-english_us_arpa}" "${acoustic_model:-english_us_arpa}" \
    "$out/times"
}

align_gentle() {
  need curl "install it"
  local wav name
  for wav in "$corpus"/*.wav; do
    name=$(basename "$wav" .wav)
    [ "$out/times/$name.json" -nt "$wav" ] && [ "$out/times/$name.json" -nt "$corpus/$name.txt" ] && continue
    curl -fsS -F "audio=@$wav" -F "transcript=@$corpus/$name.txt" "$gentle/transcriptions?async=false" \
      -o "$out/times/$name.json.new" || fail "$gentle does not align $name; docker run -p 8765:8765 lowerquality/gentle"
    mv "$out/times/$name.json.new" "$out/times/$name.json"
  done
}

align_kaldi() {
  [ -f "$kaldi/steps/align_si.sh" ] || fail "--kaldi '$kaldi': no steps/align_si.sh there; name a recipe of Kaldi"
  [ -n "$acoustic_model" ] || fail "--acoustic-model is not given; name the recipe's model, for example exp/tri3b"
  local data=$out/kaldi/data wav name
  mkdir -p "$data"
  rm -f "$data"/{text,wav.scp,utt2spk}
  for wav in "$corpus"/*.wav; do
    name=$(basename "$wav" .wav)
    echo "$name $(tr '\n' ' ' <"$corpus/$name.txt")" >>"$data/text"
    echo "$name $wav" >>"$data/wav.scp"
    echo "$name $name" >>"$data/utt2spk"
  done
  cp "$data/utt2spk" "$data/spk2utt"
  (
    cd "$kaldi"
    . ./path.sh
    steps/make_mfcc.sh --nj "$nj" "$data" && steps/compute_cmvn_stats.sh "$data" &&
      steps/align_si.sh --nj "$nj" "$data" "$lang" "$acoustic_model" "$out/kaldi/ali" &&
      steps/get_train_ctm.sh "$data" "$lang" "$out/kaldi/ali"
  ) >"$out/log/align.log" 2>&1 || fail "Kaldi failed; its log is in $out/log/align.log"
  cp "$out/kaldi/ali/ctm" "$out/times/times.ctm"
}

case $aligner in pocketsphinx | mfa | gentle | kaldi) ;; *) fail "--aligner $aligner: choose pocketsphinx, mfa, gentle or kaldi" ;; esac
make_corpus "$@"
mkdir -p "$out/times" "$out/log"
"align_$aligner"
