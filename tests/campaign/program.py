"""The command line of `punc`. It is not in world.py, because stream.py measures memory and must not import PyTorch."""

import sys

PUNC = [sys.executable, "-c", "import sys; sys.argv[0] = 'punc'\nfrom punc.bin.main import main; sys.exit(main())"]
