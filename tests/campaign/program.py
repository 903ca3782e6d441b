"""Starts `punc` without PyTorch, because stream.py measures its memory."""

import sys

PUNC = [sys.executable, "-c", "import sys; sys.argv[0] = 'punc'\nfrom punc.bin.main import main; sys.exit(main())"]
