"""Makes tiny random encoders of each kind, in directories like those of `transformers`, with their tokenizers."""

from pathlib import Path

SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24,
         "max_position_embeddings": 64}
KINDS = {"bert": {}, "roberta": {}, "electra": {"embedding_size": 8}, "deberta": {}, "xlm-roberta": {},
         "deberta-v2": {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 8},
         "modernbert": {"local_attention": 8, "global_attn_every_n_layers": 2}, "mpnet": {}}
PIECES = {"bert": "wordpiece", "electra": "wordpiece", "xlm-roberta": "unigram", "deberta-v2": "unigram"}  # others: bpe
LETTERS = [*"abcdefgh"]
TEXT = ["a bad cabbage", "head face edge", "babe fad gag", *LETTERS, *(x + y for x in LETTERS for y in LETTERS)]


def make_encoder(kind: str, directory: Path, **sizes: int) -> Path:
    """Write a random encoder of a kind, with a tokenizer for words of the letters a to h. `sizes` replace SIZES."""
    import torch
    from transformers import AutoConfig, AutoModel
    size, specials = write_tokenizer(kind, directory)
    config = AutoConfig.for_model(kind, vocab_size=size + 3, **specials, **{**SIZES, **sizes}, **KINDS[kind])
    torch.manual_seed(7)
    AutoModel.from_config(config).save_pretrained(directory)
    return directory


def write_tokenizer(kind: str, directory: Path) -> tuple[int, dict[str, int]]:
    """Write the tokenizer of a kind. Return the number of pieces, and the items of config.json that contain ids of
    special pieces."""
    directory.mkdir(parents=True, exist_ok=True)
    tokenizer, specials = {"wordpiece": wordpiece, "unigram": unigram}.get(PIECES.get(kind, ""), byte_level)()
    tokenizer.enable_truncation(5)  # the tokenizer.json of some encoders sets truncation and padding
    tokenizer.enable_padding(length=5)
    tokenizer.save(str(directory / "tokenizer.json"))
    return tokenizer.get_vocab_size(), specials


def wordpiece():
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *("##" + letter for letter in LETTERS), "bad",
              "##ge"]
    tokenizer = Tokenizer(models.WordPiece({token: i for i, token in enumerate(tokens)}, unk_token="[UNK]"))
    tokenizer.add_special_tokens(tokens[:5])
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]",
                                                             special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return tokenizer, {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "cls_token_id": 2, "sep_token_id": 3}


def byte_level():
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(TEXT, trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<s>", "<pad>", "</s>", "<unk>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return tokenizer, {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "cls_token_id": 0, "sep_token_id": 2}


def unigram():
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.NFKC(), pre_tokenizers.Metaspace()
    tokenizer.train_from_iterator(TEXT, trainers.UnigramTrainer(
        vocab_size=40, special_tokens=["<s>", "<pad>", "</s>", "<unk>"], unk_token="<unk>", show_progress=False))
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    return tokenizer, {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
