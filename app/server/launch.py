"""The process of the server: Panel's own command, with admission imported beforehand.

Panel looks for a plugin in the current folder first, where a user's file may have the name of any
module. What is imported already is not looked for.
"""

import sys

from panel.command import main

from . import admission

if __name__ == "__main__":
    del admission  # Panel finds it by its name
    main(sys.argv)
