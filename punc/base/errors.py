"""The one kind of error that a user's input can cause."""

import os


class InputError(Exception):
    """Something in the input or the options is wrong, and the user can mend it.

    ``str()`` is one line, ``FILE:LINE: what is wrong; what to do``, which the command line prints
    behind the program's name, without a traceback.

    what     what is wrong
    remedy   what the user can do
    file     the file at fault, if there is one
    line     its line number, from 1
    """

    def __init__(self, what: str, remedy: str, file: str | os.PathLike | None = None, line: int | None = None):
        place = "" if file is None else f"{os.fspath(file)}: " if line is None else f"{os.fspath(file)}:{line}: "
        super().__init__(f"{place}{what}; {remedy}".replace("\n", " "))
        self.what, self.remedy, self.file, self.line = what, remedy, file, line

    def __reduce__(self):
        # An error crosses from a worker process to its parent; the default would rebuild it from its message alone.
        return InputError, (self.what, self.remedy, self.file, self.line)
