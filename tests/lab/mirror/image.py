# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a container image without a base to pull, as a docker-archive: a configuration, its layers, a manifest.

image.py OUT.tar REFERENCE ENTRYPOINT [--base LAYER.tar] IMAGE_PATH=FILE...      (IMAGE_PATH=->TARGET makes a symlink)
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import pathlib
import shutil
import subprocess
import tarfile
import tempfile

PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def layer(files: dict[str, str], folder: pathlib.Path) -> pathlib.Path:
    """One layer of FILES (path in the image to path here, or to "->target"), the same bytes for the same content."""
    path = folder / "files.tar"
    with tarfile.open(path, "w") as archive:
        parents: set[str] = set()
        for name, source in sorted(files.items()):
            for parent in reversed(pathlib.PurePosixPath(name.lstrip("/")).parents):
                if str(parent) not in parents | {"."}:
                    parents.add(str(parent))
                    entry = tarfile.TarInfo(str(parent))
                    entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                    archive.addfile(entry)
            entry = tarfile.TarInfo(name.lstrip("/"))
            entry.mode = 0o755
            if source.startswith("->"):
                entry.type, entry.linkname = tarfile.SYMTYPE, source[2:]
                archive.addfile(entry)
                continue
            entry.size = pathlib.Path(source).stat().st_size
            with open(source, "rb") as content:
                archive.addfile(entry, content)
    return path


def digest(path: pathlib.Path) -> str:
    with open(path, "rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def write(out: str, reference: str, entrypoint: list[str], layers: list[pathlib.Path]) -> None:
    """The archive OUT with LAYERS, lowest first."""
    architecture = subprocess.run(["dpkg", "--print-architecture"], check=True, capture_output=True, text=True).stdout
    digests = [digest(path) for path in layers]
    config = {
        "architecture": architecture.strip(),
        "os": "linux",
        "created": "2026-01-01T00:00:00Z",
        "config": {"Env": [PATH], "Entrypoint": entrypoint, "WorkingDir": "/"},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{one}" for one in digests]},
        "history": [{"created": "2026-01-01T00:00:00Z", "created_by": "podnet.kubeadm lab"} for _one in digests],
    }
    content = json.dumps(config).encode()
    name = hashlib.sha256(content).hexdigest() + ".json"
    manifest = [{"Config": name, "RepoTags": [reference], "Layers": [f"{one}.tar" for one in digests]}]
    with tarfile.open(out, "w") as archive:
        for path, one in zip(layers, digests, strict=True):
            archive.add(path, f"{one}.tar")
        for entry_name, data in ((name, content), ("manifest.json", json.dumps(manifest).encode())):
            entry = tarfile.TarInfo(entry_name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out")
    parser.add_argument("reference")
    parser.add_argument("entrypoint", type=str.split)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--base", type=pathlib.Path)
    options = parser.parse_intermixed_args()
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        files = dict(one.split("=", 1) for one in options.files)
        layers = ([options.base] if options.base else []) + [layer(files, folder)]
        write(options.out, options.reference, options.entrypoint, layers)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
