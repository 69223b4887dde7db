"""Pictures by matplotlib that need no browser and no server, as SVG and PNG.

matplotlib is imported when a picture is drawn, not before.
"""
