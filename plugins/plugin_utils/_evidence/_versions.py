# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Versions as Kubernetes components and images write them, as comparable numbers."""

from __future__ import annotations

import re
from typing import NamedTuple

_VERSION = re.compile(r"v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,6}))?(?![0-9.])")


class Version(NamedTuple):
    """A version, compared by its numbers; pre-releases and builds (``-rc.1``, ``+k3s1``) do not count."""

    major: int
    minor: int
    patch: int = 0

    def __str__(self) -> str:
        return f"v{self.major}.{self.minor}.{self.patch}"

    @property
    def series(self) -> str:
        """Major and minor: ``1.37``."""
        return f"{self.major}.{self.minor}"


def version(text: str) -> Version | None:
    """The version at the beginning of a text (``v1.37.2``, ``1.37``, ``1.37.2-1.1``), or None."""
    found = _VERSION.match(text.strip())
    return Version(int(found[1]), int(found[2]), int(found[3] or 0)) if found else None


def image_name(image: str) -> str:
    """The last part of an image's path, without tag and digest: ``flannel`` of ``ghcr.io/flannel-io/flannel:v1``."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[0]


def image_tag(image: str) -> str:
    """The tag of an image, or ""."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[2]


def image_version(image: str) -> Version | None:
    """The version in an image's tag; None where there is no tag or it names none (latest, a digest)."""
    return version(image_tag(image))
