"""Other people's libraries on a budget in Joules: one file a library, named like its package.

A file imports its library when it is imported itself, and nothing else of EI/J imports the file.
"""
