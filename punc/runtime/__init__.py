"""Packed models: a trained model in a few small files, and its decoding in NumPy. Only `pack` imports torch.

What other packages and programs use:

    model    PackedModel, load_packed: a packed model, ready to punctuate
    pack     pack: a trained model, packed
    shipped  CASING, DEFAULT_LIVE, find_model, is_packed, model_files: models by name or directory
"""
