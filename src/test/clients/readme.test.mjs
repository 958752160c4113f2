// The README's samples for a page, as they stand, in a real browser.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { startBrowser } from './browser.mjs';
import { serverUrl } from './server.mjs';

const readme = await readFile(process.env.LECTUS_README, 'utf8');
const pouch = await readFile(process.env.LECTUS_POUCHDB, 'utf8');
const origin = readme.match(/--cors-origin (http:\/\/localhost:\d+)/)[1];

/** The first sample of JavaScript below a heading. */
const sample = heading =>
  readme.split(`\n## ${heading}\n`)[1].match(/```js\n([^]*?)```/)[1];

let browser;
let stop;
let app;
let page;
let said;

before(async () => {
  app = createServer((request, answer) => {
    const script = request.url === '/pouchdb.js';
    answer.setHeader('Content-Type', script ? 'text/javascript' : 'text/html');
    answer.end(script ? pouch : '<!doctype html><title>app</title><script src="pouchdb.js"></script>');
  });
  await new Promise((resolve) => { app.listen(0, '127.0.0.1', resolve); });
  // The addresses that the README has, wherever the two are.
  const rules = [
    `MAP 127.0.0.1:5984 127.0.0.1:${new URL(serverUrl).port}`,
    `MAP ${new URL(origin).host} 127.0.0.1:${app.address().port}`,
  ];
  ({ browser, stop } = await startBrowser(`--host-resolver-rules=${rules}`));
});

after(async () => {
  await stop?.();
  app.close();
});

beforeEach(async () => {
  said = [];
  page = await browser.newPage();
  page.on('console', line => said.push(line.text()));
  page.on('pageerror', error => said.push(`error: ${error}`));
  await page.goto(origin);
});

afterEach(() => page.close());

const run = script => page.addScriptTag({ type: 'module', content: script });

const own = async (method, path, json) => (await fetch(`${serverUrl}/${path}`, {
  method, body: json && JSON.stringify(json), headers: { 'Content-Type': 'application/json' },
})).json();

async function until(holds) {
  for (let left = 400; left > 0; left--) {
    if (await holds()) {
      return;
    }
    await new Promise(later => { setTimeout(later, 50); });
  }
  assert.fail(said.join('\n'));
}

test('PouchDB syncs both ways with a page from elsewhere', async () => {
  await run(sample('Sync with it'));
  await until(async () => (await own('GET', 'notes/first')).text === 'hello');
  await own('PUT', 'notes/second', {});
  await until(() => said.some(line => line.includes('push') && line.includes('first')));
  await until(() => said.some(line => line.includes('pull') && line.includes('second')));
});

test('a socket brings the changes of many databases', async () => {
  await own('PUT', 'user-jan');
  await own('PUT', 'user-jan/a', { v: 1 });
  await run(sample('A quick tour'));
  await until(() => said.some(line => line.startsWith('user-jan a')));
  await own('PUT', 'user-ann');
  await own('PUT', 'user-ann/b', { v: 2 });
  await until(() => said.some(line => line.startsWith('user-ann b')));
  assert.deepEqual(said.filter(line => line.startsWith('error')), []);
});
