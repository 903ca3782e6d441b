"""The program as the campaign starts it; without PyTorch, which stream.py does not want in its memory."""

import sys

PUNC = [sys.executable, "-c", "import sys; sys.argv[0] = 'punc'\nfrom punc.bin.main import main; sys.exit(main())"]
