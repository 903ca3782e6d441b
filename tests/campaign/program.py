"""The program as the campaign starts it; without PyTorch, which would be in the memory that stream.py measures."""

import sys

PUNC = [sys.executable, "-c", "import sys; sys.argv[0] = 'punc'\nfrom punc.bin.main import main; sys.exit(main())"]
