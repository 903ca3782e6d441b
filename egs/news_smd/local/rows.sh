# Sourced by run.sh: functions that stages 4 and 6 call for each row of a page. $exp has the models of the page.
# shellcheck shell=bash disable=SC2034,SC2154  # variables are those of run.sh and recipe.sh

# tune CONF STORE MODEL-DIR 'CHOICE …' [OPTION …]: trains a model with seed 1 for each choice, such as
# learning-rate=0.001 or c1=1,c2=0.1. Writes all losses, and the choice with the lowest dev loss, to
# MODEL-DIR/tuned.conf.
tune() {
  local model=$3 choice options loss losses=() seeds=1
  for choice in $4; do
    read -ra options <<<"--${choice//,/ --}"
    train "$1" "$2" "$model/tune/$choice" "${@:5}" "${options[@]}" || return
    loss=$(cat "$model/tune/$choice"/log/train*.log | grep -o 'dev loss [0-9.e-]*' | sort -g -k 3 | head -n 1) || return
    losses+=("$loss $choice")
  done
  choice=$(printf '%s\n' "${losses[@]}" | sort -g -k 3 | head -n 1)
  choice=${choice##* }
  read -ra options <<<"--${choice//,/ --}"
  choice=$(printf '%s\n' "${losses[@]/#/# }" "${options[@]}")
  [ "$(cat "$model/tuned.conf" 2>/dev/null)" = "$choice" ] || make_file "$model/tuned.conf" echo "$choice"
}

# tune_rate CONF STORE MODEL-DIR 'RATE …' [OPTION …]: runs tune with learning rates, listed from low to high. While the
# lowest rate is the best, also tries half of it; while the highest is the best, also tries twice as high a rate.
tune_rate() {
  local rates=$4
  while tune "$1" "$2" "$3" "learning-rate=${rates// / learning-rate=}" "${@:5}" || return; do
    case $(tuned "$3") in
      "--learning-rate=${rates%% *}") rates="$(awk "BEGIN { print ${rates%% *} / 2 }") $rates" ;;
      "--learning-rate=${rates##* }") rates+=" $(awk "BEGIN { print ${rates##* } * 2 }")" ;;
      *) break ;;
    esac
  done
}

# tuned MODEL-DIR: prints the options that tune chose.
tuned() { grep '^--' "$1/tuned.conf"; }

# take_trial MODEL-DIR: copies the trial that tune chose to MODEL-DIR. Only for trials trained on the full set.
take_trial() {
  local trial
  trial=$1/tune/$(tuned "$1" | sed 's/^--//' | paste -sd ,)
  ! newer "$1/final.pt" "$1/tuned.conf" "$trial/final.pt" || return 0
  # The model is written last.
  tar -C "$trial" --exclude ./final.pt -c . | tar -C "$1" -x && make_file "$1/final.pt" cat "$trial/final.pt"
}

# train_row SYSTEM ROW SETS: chooses the learning rate of a neural system or the penalties of Word-CRF on dev_SETS, and
# trains. Rows with more text or fewer features use the choice made for the original row.
# shellcheck disable=SC2046
train_row() {
  local conf=conf/${exp#exp/} store=data/${store_of[$1]} system=${1%-all} parts
  case $1 in
    Word-CRF*) system=Word-CRF
      [ -s data/clusters.txt ] || one_job data/log/clusters.log local/train_clusters.py "data/train_$3" data/clusters.txt
      train "$conf/4-gram.conf" "${store}_$3" "$exp/4-gram"
      tune "$conf/Word-CRF.conf" "${store}_$3" "$exp/Word-CRF" "$penalties"
      take_trial "$exp/Word-CRF" ;;
    *) parts=$(sed -n 's/^--parts=//p' "$conf/sets.conf")  # number of parts of the training set; a system reads one
      tune_rate "$conf/$system.conf" "${store}_${3/in_domain/mixture}" "$exp/$system" "$rates" --epochs 1 \
        --parts $((trial * ${parts:-1})) ;;
  esac
  train "$conf/$2.conf" "${store}_$3" "$exp/$2" --threads "$threads" $(tuned "$exp/$system")
}

# test_row SYSTEM ROW SETS: punctuates and scores the test set of the page.
test_row() {
  case $3 in
    matched) decode_and_score "$exp/$2" "$exp/$2" test_matched ;;
    multi) decode_and_score "$exp/$2" "$exp/$2" test_multi
      score data/test_multi "$exp/$2/decode_test_multi" "$exp/$2/decode_test_multi_mid" --last-slot false ;;
    *) decode_and_score "$exp/$2" "$exp/$2" test_messages ;;
  esac
}
