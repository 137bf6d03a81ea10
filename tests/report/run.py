# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""report.html in a real, headless Chromium with axe-core: `./dev run python tests/report/run.py [FOLDER]`.

Renders a healthy, a broken and a hostile report, opens them from the disk, and leaves screenshots in FOLDER. Chromium
comes from Debian (installed when this runs as root), puppeteer-core and axe-core from npm as package.json has them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UNIT = ROOT / "tests/unit/plugins/plugin_utils"
sys.path[:0] = [str(ROOT / ".ansible/collections"), str(UNIT), str(UNIT / "_report")]

from reports import HOSTILE, broken  # noqa: E402
from rules import healthy  # noqa: E402

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._judge import judge  # noqa: E402
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._html import html  # noqa: E402
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._model import model  # noqa: E402
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View  # noqa: E402


def refuse(why: str) -> None:
    print(f"{why}\n0 passed, 1 failed")
    raise SystemExit(3)


def tool(names: tuple[str, ...], package: str) -> str:
    """The path of the first of NAMES that is there; Debian's PACKAGE is installed where none is."""
    for attempt in (1, 2):
        for name in names:
            if shutil.which(name):
                return str(shutil.which(name))
        if attempt == 1 and os.geteuid() == 0 and shutil.which("apt-get"):
            environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
            subprocess.run(["apt-get", "update", "-qq"], check=True, env=environment, timeout=300)
            command = ["apt-get", "install", "-qq", "--no-install-recommends", "-y", package]
            subprocess.run(command, check=True, env=environment, timeout=900, stdout=subprocess.DEVNULL)
    refuse(f"There is no {names[0]}: install Debian's package {package}.")
    return ""


def packages() -> Path:
    """A folder with browser.mjs and its packages, kept in the cache."""
    npm = tool(("npm",), "npm")
    cache = Path(os.environ.get("PODNET_CACHE") or Path.home() / ".cache/podnet.kubeadm") / "report"
    cache.mkdir(parents=True, exist_ok=True)
    wanted = (ROOT / "tests/report/package.json").read_text()
    done = cache / "package.json"
    if not done.exists() or done.read_text() != wanted or not (cache / "node_modules/axe-core").exists():
        done.write_text(wanted)
        command = [npm, "install", "--silent", "--no-fund", "--no-audit", "--ignore-scripts"]
        subprocess.run(command, cwd=cache, check=True, timeout=300)
    shutil.copy(ROOT / "tests/report/browser.mjs", cache)
    return cache


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp(prefix="podnet-report-"))
    folder.mkdir(parents=True, exist_ok=True)
    view = View(healthy("cluster-docker"))
    cases = {
        "healthy": (view, judge(view)),
        "broken": broken(healthy("cluster-dual")),
        "hostile": broken(healthy(), HOSTILE),
    }
    for name, (seen, verdict) in cases.items():
        (folder / f"{name}.html").write_text(html(model(seen, verdict)))
    where = packages()
    browser = tool(("chromium", "chromium-browser", "google-chrome"), "chromium")
    command = ["node", str(where / "browser.mjs"), browser, str(folder.resolve())]
    done = subprocess.run(command, cwd=where, capture_output=True, text=True, timeout=300, check=False)
    print(done.stdout + done.stderr, end="")
    passed = done.stdout.count("\nok ") + done.stdout.startswith("ok ")
    failed = done.stdout.count("\nnot ok ") + done.stdout.startswith("not ok ") + (1 if done.returncode else 0)
    print(f"screenshots: {folder}\n{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
