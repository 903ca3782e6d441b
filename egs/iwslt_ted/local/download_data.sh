#!/usr/bin/env bash
# usage: local/download_data.sh DIR
# Downloads the TED data of Che et al. (LREC 2016) into DIR: 22 MB. Complete files are kept.
#
# The authors have no page for the data that we know of. The files are on GitHub with the code of another paper
# (26hzhang/neural_sequence_labeling, data/raw/LREC); xashru/punctuation-restoration (data/en) also has dev and test.
# The files were made from the punctuated talks that WIT3 released for IWSLT 2012: https://wit3.fbk.eu/2012-03 (train)
# and https://wit3.fbk.eu/2012-03-b (test).
# The text is TED's, under CC BY-NC-ND 4.0 (https://www.ted.com/about/our-organization/our-policies-terms).
set -eu
dir=$1
from=https://raw.githubusercontent.com/26hzhang/neural_sequence_labeling/10b5585235d5500b78bff81d4f8f3c818cd3af00
from=$from/data/raw/LREC

# is_right FILE ID: whether FILE has this git blob id, the SHA-1 of a header with its length and of its content
is_right() {
  [ -f "$1" ] && python3 - "$1" "$2" <<'EOF'
import hashlib, sys
data = open(sys.argv[1], "rb").read()
sys.exit(hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest() != sys.argv[2])
EOF
}

download() {
  if command -v curl >/dev/null; then
    curl --fail --silent --show-error --location --output "$2" "$1"
  elif command -v wget >/dev/null; then
    wget --quiet --output-document="$2" "$1"
  else
    echo "$0: neither curl nor wget is installed; install one of them" >&2
    return 1
  fi
}

mkdir -p "$dir"
while read -r file id; do
  is_right "$dir/$file" "$id" && continue
  echo "$0: $file" >&2
  download "$from/$file" "$dir/$file.part" || {
    echo "$0: $from/$file: the download failed; get the files by hand (see the top of $0) and use run.sh --corpus DIR" >&2
    exit 1
  }
  is_right "$dir/$file.part" "$id" || {
    echo "$0: $dir/$file.part: not the expected file; try again, or see the top of $0 for other sources" >&2
    exit 1
  }
  mv "$dir/$file.part" "$dir/$file"
done <<EOF
train2012 afb6136dec506f7fbaf853b560190dbf41b4f441
dev2012 a77af24ba613e2f35e4e00a9945cdb47bf53d303
test2011 50e487db4ab16a84868c87f53118887d289ca09d
test2011asr a3dbf6aae75b68110f288d9e07cbbfe3a371522b
IWSLT12.TED.MT.tst2011.en-fr.en.xml 60854f60c650de2ff3a9dab1b365494d61c46010
IWSLT12.TED.SLT.tst2011.en-fr.en.system0.comma.xml 500f0f536d914d7169f682df1bce5915f93903d1
EOF
