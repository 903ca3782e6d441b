"""Starts the program for the campaign without PyTorch, because stream.py measures the memory."""

import sys

PUNC = [sys.executable, "-c", "import sys; sys.argv[0] = 'punc'\nfrom punc.bin.main import main; sys.exit(main())"]
