// node load-tests/files.mjs URL FOLDER: stores the JSON files of npm packages in both layouts. Called by files.sh.
import { readFileSync } from 'node:fs';
import path from 'node:path';

const [url, folder] = process.argv.slice(2);
const FILES = [
  'world-atlas/countries-110m.json', 'world-atlas/countries-50m.json', 'world-atlas/land-10m.json',
  'world-atlas/countries-10m.json', 'us-atlas/states-10m.json', 'us-atlas/counties-10m.json',
  'caniuse-db/data.json', 'caniuse-db/fulldata-json/data-2.0.json',
  '@mdn/browser-compat-data/data.json#api',
  '@mdn/browser-compat-data/data.json#css', '@mdn/browser-compat-data/data.json#javascript',
];
// A document may have 8 000 000 bytes.
const MOST = 8_000_000;

// The shape of canada.json: one polygon of many rings with 55 563 points of 17 digits.
function map() {
  let seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const ring = () => Array.from({ length: 116 }, () => [-140 + 80 * random(), 42 + 41 * random()]);
  const geometry = { type: 'Polygon', coordinates: Array.from({ length: 480 }, ring) };
  const features = [{ type: 'Feature', properties: { name: 'Canada' }, geometry }];
  return JSON.stringify({ type: 'FeatureCollection', features });
}

async function ask(method, target, body) {
  const begin = process.hrtime.bigint();
  const answer = await fetch(url + target, { method, body, headers: { 'Content-Type': 'application/json' } });
  const text = await answer.text();
  const millis = Number(process.hrtime.bigint() - begin) / 1e6;
  return { status: answer.status, text, millis };
}

const LAYOUTS = ['inline', 'rfc004'];
for (const layout of LAYOUTS) await ask('PUT', `/files-${layout}?layout=${layout}`);
let failures = 0;
console.log('| file | bytes | PUT ms, inline | rfc004 | GET ms, inline | rfc004 | |');
console.log('|---|---|---|---|---|---|---|');
const all = [['in the shape of canada.json', map()]];
for (const name of FILES) {
  const [file, member] = name.split('#');
  const text = readFileSync(path.join(folder, file), 'utf8');
  all.push([name, member ? JSON.stringify(JSON.parse(text)[member]) : text]);
}
for (const [name, text] of all) {
  const body = JSON.stringify(JSON.parse(text));
  const bytes = Buffer.byteLength(body);
  const id = encodeURIComponent(name);
  const found = [];
  for (const layout of LAYOUTS) {
    const put = await ask('PUT', `/files-${layout}/${id}`, body);
    const get = await ask('GET', `/files-${layout}/${id}`);
    let isSame = false;
    let rev = '';
    if (put.status === 201) {
      const { _id, _rev, ...rest } = JSON.parse(get.text);
      rev = _rev;
      isSame = JSON.stringify(rest) === body;
    } else if (put.status === 413 && bytes > MOST) {
      isSame = true;
    }
    found.push({ put, get, isSame, rev });
  }
  const isGood = found.every((it) => it.isSame) && found[0].rev === found[1].rev;
  failures += isGood ? 0 : 1;
  const [inline, rows] = found;
  console.log(`| ${name} | ${bytes} | ${inline.put.millis.toFixed(0)} | ${rows.put.millis.toFixed(0)}`
    + ` | ${inline.get.millis.toFixed(0)} | ${rows.get.millis.toFixed(0)}`
    + ` | ${isGood ? (bytes > MOST ? 'refused as too large' : 'the same') : 'DIFFERENT ' + inline.put.text.slice(0, 200)} |`);
}
process.exit(failures > 0 ? 1 : 0);
