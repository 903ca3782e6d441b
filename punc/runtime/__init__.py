"""Models outside PyTorch: packed ones in a few small files, decoded in NumPy; ONNX. `pack`, `export` import torch.

What other packages and programs use:

    export   export: a neural model as an ONNX file
    model    PackedModel, load_packed: a packed model, ready to punctuate
    pack     pack, unpack: a trained model as a packed one, and back
    shipped  CASING, DEFAULT_LIVE, find_model, is_packed, model_files: models by name or directory
"""
