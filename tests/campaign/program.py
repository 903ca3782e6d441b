"""The command line of `punc`. It is not in world.py, because world.py imports PyTorch, and stream.py must measure
memory without PyTorch.
"""

import sys

PUNC = [sys.executable, "-c", "import sys; sys.argv[0] = 'punc'\nfrom punc.bin.main import main; sys.exit(main())"]
