# What run.sh does for each row in stages 4 and 6; it sources this file. $exp has the models of the row's page.
# shellcheck shell=bash disable=SC2154  # run.sh sets the options, and `each` exp

# train_row ROW SETS: chooses the learning rate of a neural system or the penalties of Word-CRF on dev_SETS, and trains.
# shellcheck disable=SC2046
train_row() {
  local page=${exp#exp/} system=${1%-all} tuned=$exp/$1 store=data/store_char_$2 parts
  case $1 in
    Word-CRF*) tuned=$exp/Word-CRF store=data/store_form_$2  # without some features, the penalties are those of all
      [ -s data/clusters.txt ] || one_job data/log/clusters.log local/train_clusters.py "data/train_$2" data/clusters.txt
      train_model "$exp/4-gram" "$store" "conf/$page/4-gram.conf"
      tune "$tuned" "$store" "conf/$page/Word-CRF.conf" "$penalties"
      take_trial "$tuned" ;;
    *) system=${system%+in-domain} tuned=$exp/$system  # with more text, the rate is the same
      [ "${1#Word-}" = "$1" ] || store=data/store_word_$2
      parts=$(sed -n 's/^--parts=//p' "conf/$page/sets.conf")  # that a reading of the training set is cut into
      tune_rate "$tuned" "${store/in_domain/mixture}" "conf/$page/$system.conf" "$rates" --epochs 1 \
        --parts $((trial * ${parts:-1})) ;;
  esac
  train_model "$exp/$1" "$store" "conf/$page/$1.conf" --threads "$threads" $(tuned "$tuned")
}

# test_row ROW SETS: punctuates the test set of the page and scores it.
test_row() {
  case $2 in
    matched) decode_and_score "$1" test_matched ;;
    multi) decode_and_score "$1" test_multi
      score data/test_multi "$exp/$1/decode_test_multi" "$exp/$1/decode_test_multi_mid" --last-slot false ;;
    *) decode_and_score "$1" test_messages ;;
  esac
}
