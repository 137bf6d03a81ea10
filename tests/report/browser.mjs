// Copyright (c) podnet.kubeadm contributors
// GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

// node browser.mjs CHROMIUM FOLDER: opens the pages in FOLDER from the disk, as a person does, and prints one line
// "ok NAME" or "not ok NAME: WHY" for each thing that must hold. Screenshots are left in FOLDER.

import fs from 'node:fs';
import path from 'node:path';
import {createRequire} from 'node:module';
import puppeteer from 'puppeteer-core';

const axeSource = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const [, , chromium, folder] = process.argv;
const browser = await puppeteer.launch({executablePath: chromium, args: ['--no-sandbox']});

async function test(name, action) {
  try {
    await action();
    console.log(`ok ${name}`);
  } catch (error) {
    console.log(`not ok ${name}: ${String(error.message).replaceAll('\n', ' ')}`);
  }
}

function equal(seen, wanted, what) {
  if (JSON.stringify(seen) !== JSON.stringify(wanted)) {
    throw new Error(`${what}: ${JSON.stringify(seen)} instead of ${JSON.stringify(wanted)}`);
  }
}

async function open(file, {scheme = 'light', width = 1200, script = true} = {}) {
  const page = await browser.newPage();
  page.trouble = [];
  page.on('console', message => page.trouble.push(message.text()));
  page.on('pageerror', error => page.trouble.push(error.message));
  page.on('dialog', async dialog => { page.trouble.push(`dialog ${dialog.message()}`); await dialog.dismiss(); });
  page.on('request', request => {
    if (!request.url().startsWith('file://') || !request.isNavigationRequest()) { page.trouble.push(`asks for ${request.url()}`); }
  });
  await page.setViewport({width, height: 900});
  await page.setJavaScriptEnabled(script);
  await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: scheme}]);
  await page.goto(`file://${path.resolve(folder, file)}`);
  return page;
}

const visible = (page, selector) => page.$$eval(selector, all => all.filter(one => one.checkVisibility()).length);
const files = fs.readdirSync(folder).filter(name => name.endsWith('.html'));

for (const file of files) {
  for (const scheme of ['light', 'dark']) {
    for (const width of [1200, 400]) {
      await test(`${file} ${scheme} ${width}: accessible, quiet, asks for nothing`, async () => {
        const page = await open(file, {scheme, width});
        await page.$$eval('details', all => all.forEach(one => { one.open = true; }));
        await page.screenshot({path: path.join(folder, `${file}-${scheme}-${width}.png`), fullPage: true});
        await page.evaluate(axeSource);
        const {violations} = await page.evaluate(() => globalThis.axe.run());
        equal(violations.map(one => `${one.id}: ${one.nodes[0].html.slice(0, 200)} (${one.nodes.length})`), [], 'violations');
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        equal(wide <= 0, true, `wider than the window by ${wide}`);
        equal(page.trouble, [], 'trouble');
        await page.close();
      });
    }
  }
  await test(`${file}: without a script everything is there`, async () => {
    const page = await open(file, {script: false});
    equal(await visible(page, '#findings > tr'), await page.$$eval('#findings > tr', all => all.length), 'findings');
    equal(await visible(page, 'section.host'), await page.$$eval('section.host', all => all.length), 'pages of hosts');
    await page.close();
  });
  await test(`${file}: printed, everything is there and filters are not`, async () => {
    const page = await open(file);
    await page.emulateMediaType('print');
    equal(await visible(page, 'section.host'), await page.$$eval('section.host', all => all.length), 'pages of hosts');
    equal(await visible(page, '.filters'), 0, 'filters');
    await page.pdf({path: path.join(folder, `${file}.pdf`)});
    await page.close();
  });
  await test(`${file}: a picture has a title, a description and a table`, async () => {
    const page = await open(file);
    const named = await page.$$eval('svg', all => all.map(one => [
      one.getAttribute('role'),
      ...one.getAttribute('aria-labelledby').split(' ').map(id => document.getElementById(id).textContent.length > 10),
      one.closest('section').querySelectorAll('table').length > 0,
    ]));
    equal(named.every(one => JSON.stringify(one) === '["img",true,true,true]'), true, JSON.stringify(named));
    await page.close();
  });
}

await test('filters: by level, text, host and kind', async () => {
  const page = await open('broken.html');
  const shown = () => page.$$eval('#findings > tr', all => all.filter(one => !one.hidden).map(one => one.querySelector('a code').textContent));
  const every = ['forward-other-table', 'overlap-container-bridge', 'package-not-held'];
  equal(await shown(), every, 'at first');
  await page.click('button[data-severity=info]');
  equal(await shown(), every.slice(0, 2), 'without notes');
  equal(await page.$eval('button[data-severity=info]', one => one.getAttribute('aria-pressed')), 'false', 'pressed');
  equal(await page.$eval('#shown', one => one.textContent), '2 of 3 findings are shown.', 'said');
  await page.click('button[data-severity=info]');
  await page.type('#f-text', 'DOCKER0');
  equal(await shown(), [every[1]], 'containing docker0');
  await page.$eval('#f-text', one => { one.value = ''; one.dispatchEvent(new Event('input')); });
  await page.select('#f-host', 'node1');
  equal(await shown(), [every[2]], 'on node1');
  await page.select('#f-host', '');
  await page.select('#f-chapter', 'Address plan');
  equal(await shown(), [every[1]], 'of the address plan');
  await page.close();
});

await test('a name leads to the page of its host, by the keyboard', async () => {
  const page = await open('broken.html');
  equal(await visible(page, 'section.host'), 0, 'pages at first');
  await page.focus('a[href="#host-1"]');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector('#host-1').checkVisibility(), {timeout: 3000});
  equal(await visible(page, 'section.host'), 1, 'pages shown');
  equal(await page.evaluate(() => document.activeElement.textContent), 'node2', 'focus');
  await page.close();
});

await test('the first thing that Tab reaches leads past the navigation', async () => {
  const page = await open('broken.html');
  await page.keyboard.press('Tab');
  equal(await page.evaluate(() => document.activeElement.getAttribute('href')), '#main', 'focus');
  await page.close();
});

await test('the broken hop is marked, and what lies behind it is not reached', async () => {
  const page = await open('broken.html');
  equal(await page.$$eval('svg .hop.broken .name', all => all.map(one => one.textContent)), ['forwarding'], 'broken');
  equal(await page.$$eval('svg .hop.after', all => all.length), 10, 'behind it');
  equal(await page.$$eval('svg .range.bad', all => all.length), 2, 'overlaps in red');
  await page.close();
});

await test('hostile text stays text', async () => {
  const page = await open('hostile.html');
  const title = await page.title();
  equal(title.includes('owned'), false, title);
  equal(await page.$$eval('script', all => all.length), 1, 'scripts');
  equal(await page.$$eval('img', all => all.length), 0, 'images');
  equal((await page.$eval('body', one => one.textContent)).includes('\u001b'), false, 'escape characters');
  await page.select('#f-host', await page.$eval('#f-host', one => [...one.options].find(o => o.value.startsWith('</script>')).value));
  equal(await page.$$eval('#findings > tr', all => all.filter(one => !one.hidden).length), 1, 'filtered by a hostile name');
  await page.close();
});

await browser.close();
