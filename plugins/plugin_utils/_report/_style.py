# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The style and the script of report.html. The page allows them by their hashes and nothing else."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --bg:#fff; --fg:#1b1f24; --dim:#57606a; --line:#d0d7de; --soft:#f6f8fa;
  --link:#0550ae;
  --error:#b3261e; --error-soft:#fdeceb; --warning:#7a4b00; --warning-soft:#fff4dd; --info:#0550ae;
  --info-soft:#e8f1fd;
  --fine:#116329; --pods:#0550ae; --services:#6639ba; --node-range:#0e7c86; --nodes:#4d5a66; --bridge:#7a4b00;
  --flannel:#a3195b;
  --vpn:#8a3ffc; --route:#57606a; --resolver:#116329; }
@media (prefers-color-scheme: dark) { :root { --bg:#0f1419; --fg:#e6edf3; --dim:#9da7b3; --line:#30363d;
  --soft:#161b22;
  --link:#79b8ff; --error:#ff8a80; --error-soft:#2d1615; --warning:#f0b849; --warning-soft:#2a2110; --info:#79b8ff;
  --info-soft:#10233b; --fine:#56d364; --pods:#4c9aff; --services:#b392f0; --node-range:#39c5cf; --nodes:#9da7b3;
  --bridge:#f0b849; --flannel:#ff8fc0; --vpn:#d2a8ff; --route:#9da7b3; --resolver:#56d364; } }
* { box-sizing: border-box; }
body { margin:0; background:var(--bg); color:var(--fg); font:16px/1.5 system-ui, sans-serif; overflow-wrap:break-word; }
header, nav, main, footer { max-width:1120px; margin:0 auto; padding:0 20px; }
h1 { font-size:1.15rem; margin:18px 0 6px; color:var(--dim); font-weight:600; }
h2 { font-size:1.3rem; margin:34px 0 10px; } h4 { margin:14px 0 6px; } h3 { font-size:1.05rem; margin:24px 0 8px; }
a { color:var(--link); } a:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible,
summary:focus-visible, [tabindex]:focus-visible { outline:3px solid var(--link); outline-offset:2px; }
.skip { position:absolute; left:-9999px; } .skip:focus { left:10px; top:10px; background:var(--bg); padding:6px 12px;
  }
.cause { border:1px solid var(--line); border-left:8px solid var(--fine); border-radius:6px; padding:14px 18px; }
.cause p { margin:4px 0; } .cause .what { font-size:1.4rem; line-height:1.3; font-weight:650; }
.cause.error { border-left-color:var(--error); background:var(--error-soft); }
.cause.warning { border-left-color:var(--warning); background:var(--warning-soft); }
.cause.info { border-left-color:var(--info); background:var(--info-soft); }
nav ul { list-style:none; display:flex; flex-wrap:wrap; gap:4px 18px; padding:10px 0; margin:12px 0 0;
  border-bottom:1px solid var(--line); }
table { border-collapse:collapse; width:100%; font-size:.93rem; } caption { text-align:left; color:var(--dim);
  padding:4px 0; } th, td { text-align:left; vertical-align:top; padding:7px 10px; border-bottom:1px solid
  var(--line); }
thead th { color:var(--dim); font-weight:600; white-space:nowrap; } th[scope=row] { font-weight:600; }
.scroll { overflow-x:auto; } .badge { display:inline-block; padding:0 9px; border-radius:10px; border:1px solid
  currentColor;
  font-size:.82rem; font-weight:650; white-space:nowrap; } .badge.error { color:var(--error);
  background:var(--error-soft); }
.badge.warning { color:var(--warning); background:var(--warning-soft); }
.badge.info { color:var(--info); background:var(--info-soft); }
code, pre { font-family:ui-monospace, monospace; font-size:.88em; background:var(--soft); border-radius:3px; }
code { padding:1px 4px; } pre { padding:8px 10px; white-space:pre-wrap; margin:6px 0; }
dl.pairs { display:grid; grid-template-columns:max-content minmax(0, 1fr); gap:2px 16px; margin:6px 0; } dl.pairs dt {
  color:var(--dim); }
dl.pairs dd { margin:0; } details > summary { cursor:pointer; color:var(--link); } td details { margin-top:4px; }
.filters { min-width:0; display:flex; flex-wrap:wrap; gap:10px 16px; align-items:end; border:0; padding:0;
  margin:0 0 8px; }
.filters legend { padding:0; color:var(--dim); } .filters label { display:flex; max-width:100%; flex-direction:column;
  font-size:.85rem;
  color:var(--dim); } input, select, button { font:inherit; max-width:100%; color:inherit; background:var(--bg);
  border:1px solid
  var(--dim);
  border-radius:6px; padding:4px 10px; } button[aria-pressed=true] { background:var(--fg); color:var(--bg); }
.dim { color:var(--dim); } [hidden] { display:none !important; } svg { max-width:100%; height:auto; display:block; }
.picture { overflow-x:auto; } .picture svg { min-width:760px; } svg text { fill:var(--fg); font:12.5px system-ui,
  sans-serif; }
svg .row { font-weight:600; } svg .scale, svg .small, svg .node { fill:var(--dim); font-size:11.5px; }
svg .stretch { fill:var(--soft); } svg .in { fill:var(--bg); font-size:11.5px; }
svg .range { stroke:var(--bg); stroke-width:.5; } svg .pods { fill:var(--pods); } svg .services {
  fill:var(--services); }
svg .node-range { fill:var(--node-range); } svg .nodes { fill:var(--nodes); } svg .bridge { fill:var(--bridge); }
svg .flannel { fill:var(--flannel); }
svg .vpn { fill:var(--vpn); } svg .route { fill:var(--route); } svg .resolver { fill:var(--resolver); }
svg .range.bad { fill:var(--error); } svg .stripe { stroke:var(--bg); stroke-width:2; opacity:.45; fill:none; }
svg .hop rect { fill:var(--soft); stroke:var(--line); stroke-width:1.5; } svg .hop .name { font-weight:650; }
svg .hop.after { opacity:.55; } svg .hop.warned rect { stroke:var(--warning); stroke-width:2.5;
  fill:var(--warning-soft); }
svg .hop.broken rect { stroke:var(--error); stroke-width:3; fill:var(--error-soft); }
svg .cross { stroke:var(--error); stroke-width:3.5; fill:none; } svg .hop.broken .small { fill:var(--error);
  font-weight:650; }
svg .arrow { stroke:var(--fine); stroke-width:2.5; fill:none; } svg .arrow.dead { stroke:var(--dim);
  stroke-dasharray:3 4; }
footer { padding:30px 20px; color:var(--dim); font-size:.9rem; }
@media (max-width:640px) { dl.pairs { grid-template-columns:minmax(0, 1fr); } }
@media print { :root { color-scheme:light; } nav, .filters, .skip { display:none; } section[hidden] { display:block
  !important; }
  tr, svg, .cause { break-inside:avoid; } .picture svg { min-width:0; } a { color:inherit; text-decoration:none; } }
"""

SCRIPT = """
'use strict';
const rows = [...document.querySelectorAll('#findings > tr')];
const said = document.getElementById('shown');
const text = document.getElementById('f-text');
const host = document.getElementById('f-host');
const chapter = document.getElementById('f-chapter');
const levels = [...document.querySelectorAll('button[data-severity]')];
function filter() {
  const want = text.value.trim().toLowerCase();
  let shown = 0;
  for (const row of rows) {
    const level = levels.find(one => one.dataset.severity === row.dataset.severity);
    const where = JSON.parse(row.dataset.where);
    const here = !host.value || where.includes(host.value) || where.includes('cluster') || where.includes('intent');
    const show = level.getAttribute('aria-pressed') === 'true' && here
      && (!chapter.value || row.dataset.chapter === chapter.value)
      && (!want || row.textContent.toLowerCase().includes(want));
    row.hidden = !show;
    if (show) { shown += 1; }
  }
  said.textContent = shown + ' of ' + rows.length + ' findings are shown.';
}
if (text) {
  for (const one of levels) {
    one.addEventListener('click', () => {
      one.setAttribute('aria-pressed', one.getAttribute('aria-pressed') === 'true' ? 'false' : 'true');
      filter();
    });
  }
  for (const one of [text, host, chapter]) { one.addEventListener('input', filter); }
  filter();
}
// One host's page at a time; without a script all of them are shown.
const pages = [...document.querySelectorAll('section.host')];
function turn() {
  const wanted = pages.find(page => '#' + page.id === location.hash);
  for (const page of pages) { page.hidden = page !== wanted; }
  if (wanted) { wanted.querySelector('h3').focus({preventScroll: true}); wanted.scrollIntoView(); }
}
addEventListener('hashchange', turn);
addEventListener('beforeprint', () => { for (const page of pages) { page.hidden = false; } });
addEventListener('afterprint', turn);
turn();
"""
