# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes docs/findings: a page per code, from the rule's docstring and declaration, and the list of all.

    ./dev run python tests/docs/findings.py [--check]

A unit test checks that what is committed is what this writes.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "findings"
ADVICE = ROOT / "docs" / "advice.md"
sys.path.insert(0, str(ROOT / ".ansible" / "collections"))

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._registry import CHAPTERS, LoadedRule, load_rules

PLACES = {"intent": "the intent", "cluster": "the cluster's", "nodes": "each host's"}
WHEN = {
    "check_intent": "before anything is built, from the plan",
    "check_node": "on each host",
    "check_nodes": "over all hosts",
    "check_cluster": "on a running cluster",
}


def page(loaded: LoadedRule, rules: dict[str, LoadedRule]) -> str:
    """The page of a code."""
    rule = loaded.rule
    first, _line, body = loaded.page.strip().partition("\n")
    told, mend = told_section(loaded), mend_section(loaded)
    body = re.sub(
        r"(?m)^## What looks like it but is not$", f"{told}\n\n## What looks like it but is not", body.strip()
    )
    body = re.sub(r"(?m)^## Prevent$", f"{mend}\n\n## Prevent", body)
    body = link(body, loaded.code, rules)
    head = f"# {loaded.code}\n\n{first}\n\n*{CHAPTERS[loaded.chapter]} · {rule.severity}*"
    return f"{head}\n\n{body}\n"


def told_section(loaded: LoadedRule) -> str:
    when = [text for function, text in WHEN.items() if getattr(loaded, function)]
    needs = ", ".join(f"`{need}`" for need in loaded.needs)
    text = f"Looked for {', '.join(when)}."
    return f"## How it is told\n{text} Needs {needs} of the [evidence](../evidence-format.md)." if needs else text


def mend_section(loaded: LoadedRule) -> str:
    rule = loaded.rule
    lines = [f"What the verdict says: {rule.remedy}"]
    if rule.repair:
        role, _colon, entry = rule.repair.partition(":")
        lines.append(f"The safe automatic repair is the role `podnet.kubeadm.{role}`, entry point `{entry}`.")
    if rule.explains:
        codes = ", ".join(f"`{code}`" for code in sorted(rule.explains))
        lines.append(f"Its consequences at the same place are folded under it: {codes}.")
    if cures := advice().get(loaded.code):
        named = ", ".join(f"[{title}](../advice.md#{anchor(title)})" for title in cures)
        lines.append(f"Cures that people find, and what they do: {named}.")
    lines.append(
        f"To go on in spite of it, list `{loaded.code}` in `cluster_accept_findings`; it stays listed as accepted."
    )
    return "\n\n".join(lines)


def advice() -> dict[str, list[str]]:
    """The sections of docs/advice.md by the codes that they name."""
    found: dict[str, list[str]] = {}
    for section in ADVICE.read_text(encoding="utf-8").split("\n## ")[1:]:
        title, _newline, body = section.partition("\n")
        for code in sorted(set(re.findall(r"findings/([a-z0-9-]+)\.md", body))):
            found.setdefault(code, []).append(title)
    return found


def anchor(title: str) -> str:
    """What a page's heading is linked by, as GitHub makes it."""
    return re.sub(r"[^a-z0-9 _-]", "", title.lower()).replace(" ", "-")


def link(text: str, own: str, rules: dict[str, LoadedRule]) -> str:
    """Makes a link of every code that is named."""

    def replace(match: re.Match[str]) -> str:
        code = match.group(1)
        return f"[`{code}`]({code}.md)" if code in rules and code != own else match.group(0)

    return re.sub(r"`([a-z][a-z0-9]*(?:-[a-z0-9]+)+)`", replace, text)


def index(rules: dict[str, LoadedRule]) -> str:
    """The list of all codes."""
    lines = [
        "# Findings",
        "",
        "One code, one cause, whatever the symptom. A symptom (a missing subnet.env, `NetworkPluginNotReady`, a pod",
        "without address) is never a code. Every page says what the cause means, how it looks, what looks like it but",
        "is not, and how to mend and prevent it. What the cures do that people find: [advice](../advice.md).",
    ]
    for folder, title in CHAPTERS.items():
        lines += ["", f"## {title}", "", "| code | cause | severity |", "| --- | --- | --- |"]
        for code, loaded in rules.items():
            if loaded.chapter == folder:
                lines.append(f"| [`{code}`]({code}.md) | {loaded.rule.title} | {loaded.rule.severity} |")
    return "\n".join(lines) + "\n"


def pages() -> dict[str, str]:
    """Every file of docs/findings by name."""
    rules = load_rules()
    return {**{f"{code}.md": page(loaded, rules) for code, loaded in rules.items()}, "README.md": index(rules)}


def differences() -> list[str]:
    """Files that are not what they should be."""
    wanted = pages()
    found = {file.name: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.md")}
    return sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))


def main() -> int:
    if "--check" in sys.argv[1:]:
        wrong = differences()
        print(
            "\n".join(f"docs/findings/{name} is not what its rule says; run tests/docs/findings.py" for name in wrong)
        )
        return 1 if wrong else 0
    FOLDER.mkdir(exist_ok=True)
    wanted = pages()
    for file in FOLDER.glob("*.md"):
        if file.name not in wanted:
            file.unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"docs/findings: {len(wanted) - 1} pages and the list of them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
