from importlib import import_module
from pathlib import Path

import_module(f"{Path(__file__).parent.name}.server.shell").serve_page()
