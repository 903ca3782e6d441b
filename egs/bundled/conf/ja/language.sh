# Japanese, by character: books of Aozora Bunko, and example sentences of Tatoeba and Tanaka.
# shellcheck shell=bash disable=SC2034,SC2086,SC2154
sources="books:japanese/aozora.txt sentences:japanese/tatoeba_manythings.txt+japanese/tanaka_small_parallel_enja.txt"
format=(--format characters --remove '「」『』（）()〈〉《》【】〔〕［］“”〝〟…‥―—─＝※')
cased=false
tokens=(--token-type class --vocab-size 6797 --min-count 2)
merges=([marks]="O=O,COMMA=COMMA,PERIOD=PERIOD,QUESTION=QUESTION")
# A line that does not end with a mark is a heading, a verse or a list item. A quotation at the end of a line or before
# another quotation ends a sentence, even without `。`.
prepare_texts() {
  python local/prepare_texts.py "$every" "$corpus" "$data/raw" $sources
  LC_ALL=C.UTF-8 sed -E -i -e '/^#doc|[。？！．.?!」』）)…―—─”]$/!d' -e 's/([^。？！?!．.])([」』]+)($|「)/\1。\2\3/g' "$data"/raw/*.txt
}
