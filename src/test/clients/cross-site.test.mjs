// A page of another origin, in a real browser, against a server that trusts whoever reaches it.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';
import { startBrowser } from './browser.mjs';
import { freshName, serverUrl } from './server.mjs';

// A name server that an attacker owns: first his page comes from there, then it means the victim.
const REBOUND = '--host-resolver-rules=MAP rebound.example 127.0.0.1';

const port = new URL(serverUrl).port;

let browser;
let stop;
let evil;
let evilUrl;
let page;
let db;

before(async () => {
  evil = createServer((request, answer) => {
    answer.setHeader('Content-Type', 'text/html');
    answer.end('<!doctype html><title>evil</title><body>');
  });
  await new Promise((resolve) => { evil.listen(0, '127.0.0.1', resolve); });
  evilUrl = `http://localhost:${evil.address().port}/`;
  ({ browser, stop } = await startBrowser(REBOUND));
});

after(async () => {
  await stop?.();
  evil.close();
});

beforeEach(async () => {
  db = freshName('victim');
  await own('PUT', `/${db}`);
  await own('PUT', `/${db}/secret`, { text: 'for nobody else' });
  page = await browser.newPage();
  await page.goto(evilUrl);
});

async function own(method, path, json) {
  const answer = await fetch(serverUrl + path, {
    method, body: json && JSON.stringify(json), headers: { 'Content-Type': 'application/json' },
  });
  return answer.json();
}

/** The database and the list of databases, as they were. */
async function unchanged() {
  const rows = (await own('GET', `/${db}/_all_docs`)).rows.map((row) => row.id);
  assert.deepEqual(rows, ['secret']);
  assert.ok(!(await own('GET', '/_all_dbs')).includes('evil'));
  await page.close();
}

/** What becomes of a request that the page makes: the text that it can read, or that it failed. */
const attempt = (url, options) => page.evaluate(async ([target, given]) => {
  try {
    const answer = await fetch(target, given);
    return answer.type === 'opaque' ? 'opaque' : await answer.text();
  } catch {
    return 'failed';
  }
}, [url, options]);

test('reads nothing', async () => {
  for (const path of ['/', '/_all_dbs', '/_session', `/${db}/secret`, `/${db}/_changes`]) {
    assert.equal(await attempt(serverUrl + path, {}), 'failed');
    assert.equal(await attempt(serverUrl + path, { credentials: 'include' }), 'failed');
    assert.equal(await attempt(serverUrl + path, { mode: 'no-cors' }), 'opaque');
  }
  const loaded = await page.evaluate((url) => new Promise((resolve) => {
    const script = document.createElement('script');
    script.src = url;
    script.onload = () => resolve('loaded');
    script.onerror = () => resolve('failed');
    document.body.append(script);
  }), `${serverUrl}/_all_dbs`);
  assert.equal(loaded, 'failed');
  await unchanged();
});

test('writes nothing with a method or a header that needs a preflight', async () => {
  const json = { 'Content-Type': 'application/json' };
  const requests = [
    [`/${db}/evil`, { method: 'PUT', body: '{}' }],
    ['/evil', { method: 'PUT' }],
    [`/${db}`, { method: 'DELETE' }],
    [`/${db}/secret`, { method: 'DELETE' }],
    [`/${db}`, { method: 'POST', body: '{"_id":"evil"}', headers: json }],
    [`/${db}/evil`, { method: 'POST', headers: { 'X-HTTP-Method-Override': 'PUT' }, body: '{}' }],
  ];
  for (const [path, options] of requests) {
    assert.equal(await attempt(serverUrl + path, options), 'failed');
  }
  await unchanged();
});

test('writes nothing with what browsers send without asking', async () => {
  const bodies = [
    [`/${db}`, '{"_id":"evil"}'],
    [`/${db}/_bulk_docs`, '{"docs":[{"_id":"evil"}]}'],
    [`/${db}/evil`, '{}'],
    [`/${db}/_compact`, '{}'],
    [`/${db}/_view_cleanup`, '{}'],
    ['/_session', 'name=evil&password=evil'],
    ['/_node/_local/_config/admins/evil', '"evil"'],
  ];
  const types = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'];
  for (const [path, body] of bodies) {
    for (const type of types) {
      const options = { method: 'POST', body, headers: { 'Content-Type': type } };
      assert.equal(await attempt(serverUrl + path, { ...options, mode: 'no-cors' }), 'opaque');
      assert.equal(await attempt(serverUrl + path, options), 'failed');
    }
    await page.evaluate(([url, text]) => navigator.sendBeacon(url, text), [serverUrl + path, body]);
  }
  assert.deepEqual(await browser.cookies(serverUrl), []);
  await unchanged();
});

test('writes nothing with a form, of whatever encoding', async () => {
  for (const [path, name, value] of [
    [`/${db}`, '{"_id":"evil","x":"', '"}'],
    [`/${db}/_bulk_docs`, '{"docs":[{"_id":"evil"}],"x":"', '"}'],
    ['/_session', 'name', 'evil'],
  ]) {
    for (const encoding of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      await page.goto(evilUrl);
      const [answer] = await Promise.all([
        page.waitForNavigation(),
        page.evaluate(([action, enctype, key, text]) => {
          const form = document.createElement('form');
          Object.assign(form, { action, enctype, method: 'POST' });
          const field = document.createElement('input');
          Object.assign(field, { name: key, value: text });
          form.append(field);
          document.body.append(form);
          form.submit();
        }, [serverUrl + path, encoding, name, value]),
      ]);
      assert.equal(answer.status(), 403);
    }
  }
  assert.deepEqual(await browser.cookies(serverUrl), []);
  await unchanged();
});

test('opens no socket', async () => {
  for (const [path, protocol] of [['/_changes', 'lectus.changes.v1'], [`/${db}/_changes`], ['/_db_updates']]) {
    const outcome = await page.evaluate(([url, offered]) => new Promise((resolve) => {
      const socket = offered ? new WebSocket(url, offered) : new WebSocket(url);
      socket.onopen = () => resolve('open');
      socket.onerror = () => resolve('failed');
    }), [serverUrl.replace('http', 'ws') + path, protocol]);
    assert.equal(outcome, 'failed');
  }
  await unchanged();
});

test('is no page of the server, though its name leads there', async () => {
  for (const path of ['/', '/_all_dbs', '/_example/', `/${db}/secret`]) {
    const answer = await page.goto(`http://rebound.example:${port}${path}`);
    assert.equal(answer.status(), 400);
    assert.match(await answer.text(), /invalid host/);
  }
  const outcome = await attempt(`http://rebound.example:${port}/${db}/evil`, { method: 'PUT', body: '{}' });
  assert.match(outcome, /invalid host/);
  await unchanged();
});

test('a page of the server itself may do all of it', async () => {
  await page.goto(`${serverUrl}/_example/`);
  const answer = await attempt(`${serverUrl}/${db}/mine`, { method: 'PUT', body: '{}' });
  assert.match(answer, /"ok":true/);
  const login = { method: 'POST', body: new URLSearchParams('name=a&password=b').toString(),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' } };
  // Nobody has this name; a page of another origin does not get that far.
  assert.match(await attempt(`${serverUrl}/_session`, login), /Name or password is incorrect/);
  await page.close();
});
