"""Print the path of a Chromium: the system's, else Playwright's; with --install, get one.

EIJ_BROWSER, when set, names the browser and nothing else is looked at.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
APPLICATIONS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)


def works(path: str) -> bool:
    """Whether the browser at `path` starts: a stub or a missing library does not count."""
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0


def system() -> str | None:
    candidates = [shutil.which(name) for name in NAMES]
    candidates += [path for path in APPLICATIONS if Path(path).exists()]
    return next((path for path in candidates if path and works(path)), None)


def playwrights() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() and works(path) else None


def attempt(*command: str) -> bool:
    """Run an installer with its output on stderr, so that stdout holds only the path."""
    print("+", *command, file=sys.stderr)
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(command, stdout=sys.stderr, env=env, timeout=900, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        print(error, file=sys.stderr)
        return False
    return done.returncode == 0


def install() -> str | None:
    if attempt(sys.executable, "-m", "playwright", "install", "chromium"):
        found = playwrights()
        if found:
            return found
    if shutil.which("apt-get") and os.geteuid() == 0:
        attempt("apt-get", "update", "-qq")
        attempt("apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium")
    return system()


def find(*, allow_install: bool = False) -> str:
    """The path of a browser that starts.

    Raises
    ------
    FileNotFoundError
        When there is none, with what to do about it.
    """
    named = os.environ.get("EIJ_BROWSER")
    if named:
        if works(named):
            return named
        raise FileNotFoundError(f"EIJ_BROWSER={named!r} does not start")
    found = system() or playwrights() or (install() if allow_install else None)
    if found:
        return found
    raise FileNotFoundError(
        "no Chromium found: install the system's (Debian: apt-get install chromium), "
        "run `playwright install chromium`, or set EIJ_BROWSER to a Chromium or Chrome"
    )


if __name__ == "__main__":
    try:
        print(find(allow_install="--install" in sys.argv[1:]))
    except FileNotFoundError as error:
        sys.exit(f"find_browser: {error}")
