// A page of the server itself, in a real browser: each way to log in, live feeds and sockets, and logging out.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { after, before, beforeEach, afterEach, test } from 'node:test';
import { startBrowser } from './browser.mjs';
import { freshName, serverUrl } from './server.mjs';

const isSecure = serverUrl.startsWith('https:');
const root = { name: 'root', password: process.env.LECTUS_PASSWORD };
const jan = { name: 'jan', password: 'p@ss word/&:ü' };
const secret = Buffer.from(process.env.LECTUS_TOKEN_SECRET, 'base64');
const pouch = await readFile(process.env.LECTUS_POUCHDB, 'utf8');

const basic = ({ name, password }) =>
  `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;

const part = (json) => Buffer.from(JSON.stringify(json)).toString('base64url');

function token(claims) {
  const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

let browser;
let stop;
let page;
let db;

async function own(method, path, json) {
  const answer = await fetch(serverUrl + path, {
    method,
    body: json && JSON.stringify(json),
    headers: { 'Content-Type': 'application/json', Authorization: basic(root) },
  });
  return answer.json();
}

before(async () => {
  ({ browser, stop } = await startBrowser('--ignore-certificate-errors'));
  await own('PUT', '/_users');
  await own('PUT', '/_users/org.couchdb.user:jan', { ...jan, type: 'user', roles: [] });
});

after(async () => {
  await stop?.();
});

beforeEach(async () => {
  db = freshName('team');
  await own('PUT', `/${db}`);
  await own('PUT', `/${db}/_security`, { members: { names: ['jan'] } });
  await own('PUT', `/${db}/first`, { v: 1 });
  await browser.clearCookies();
  page = await browser.newPage();
  await page.goto(`${serverUrl}/_up`);
});

afterEach(() => page.close());

/** Status and JSON of a request that the page makes. */
const ask = (path, options = {}) => page.evaluate(async ([target, given]) => {
  const answer = await fetch(target, given);
  return { status: answer.status, json: await answer.json() };
}, [path, options]);

const logIn = () => ask('/_session', {
  method: 'POST',
  body: JSON.stringify(jan),
  headers: { 'Content-Type': 'application/json' },
  credentials: 'include',
});

const who = async (options) => (await ask('/_session', options)).json.userCtx.name;

test('a password in a header', async () => {
  const headers = { Authorization: basic(jan) };
  assert.equal(await who({ headers }), 'jan');
  assert.equal((await ask(`/${db}/first`, { headers })).json.v, 1);
  const wrong = { Authorization: basic({ name: 'jan', password: 'x' }) };
  assert.equal((await ask(`/${db}/first`, { headers: wrong })).status, 401);
  assert.equal((await ask(`/${db}/first`)).status, 401);
});

test('a password in the address, where the server asks for one', async () => {
  const strict = process.env.LECTUS_STRICT_URL;
  const refused = await page.goto(`${strict}/_session`).catch(() => null);
  assert.notEqual(refused?.status(), 200);
  const address = new URL(`${strict}/_session`);
  Object.assign(address, { username: 'root', password: encodeURIComponent(root.password) });
  const fresh = await browser.newPage();
  const answer = await fresh.goto(address.href);
  assert.equal(answer.status(), 200);
  assert.equal((await answer.json()).userCtx.name, 'root');
  // The browser keeps it for the pages that follow.
  assert.equal((await (await fresh.goto(`${strict}/_session`)).json()).userCtx.name, 'root');
  await fresh.close();
});

test('a token in a header', async () => {
  const exp = Math.floor(Date.now() / 1000) + 600;
  const headers = { Authorization: `Bearer ${token({ sub: 'jan', exp })}` };
  assert.equal(await who({ headers }), 'jan');
  assert.equal((await ask(`/${db}/first`, { headers })).json.v, 1);
  const late = { Authorization: `Bearer ${token({ sub: 'jan', exp: exp - 1200 })}` };
  assert.deepEqual(await ask(`/${db}/first`, { headers: late }), {
    status: 401, json: { error: 'unauthorized', reason: 'exp not in future' },
  });
});

test('a cookie by a form that leads on', async () => {
  await Promise.all([
    page.waitForURL(`${serverUrl}/${db}/first`),
    page.evaluate(([action, fields]) => {
      const form = document.createElement('form');
      Object.assign(form, { action, method: 'POST' });
      for (const [name, value] of Object.entries(fields)) {
        form.append(Object.assign(document.createElement('input'), { name, value }));
      }
      document.body.append(form);
      form.submit();
    }, [`/_session?next=/${db}/first`, jan]),
  ]);
  assert.match(await page.textContent('body'), /"_id":"first"/);
  const [cookie] = await browser.cookies(serverUrl);
  assert.equal(cookie.name, 'AuthSession');
  assert.equal(cookie.httpOnly, true);
  assert.equal(cookie.secure, isSecure);
  assert.equal(await page.evaluate(() => document.cookie), '');
});

test('a cookie by a request, until one logs out', async () => {
  assert.deepEqual(await logIn(), { status: 200, json: { ok: true, name: 'jan', roles: [] } });
  assert.equal(await who(), 'jan');
  assert.equal((await ask(`/${db}/first`)).json.v, 1);
  assert.equal((await ask(`/${db}/first`, { credentials: 'omit' })).status, 401);
  const put = { method: 'PUT', body: '{"v":2}', headers: { 'Content-Type': 'application/json' } };
  assert.equal((await ask(`/${db}/second`, put)).status, 201);
  assert.deepEqual(await ask('/_session', { method: 'DELETE' }), { status: 200, json: { ok: true } });
  assert.deepEqual(await browser.cookies(serverUrl), []);
  assert.equal(await who(), null);
  assert.equal((await ask(`/${db}/first`)).status, 401);
});

test('a wrong password gives no cookie and takes one away', async () => {
  await logIn();
  const wrong = { method: 'POST', body: '{"name":"jan","password":"x"}', headers: { 'Content-Type': 'application/json' } };
  assert.equal((await ask('/_session', wrong)).status, 401);
  assert.deepEqual(await browser.cookies(serverUrl), []);
});

test('a live feed with a cookie', async () => {
  await logIn();
  const seen = page.evaluate(async (path) => {
    const answer = await fetch(path);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('"id":"later"')) {
      const { value } = await reader.read();
      text += value;
      window.isLive = true;
    }
    await reader.cancel();
    return text;
  }, `/${db}/_changes?feed=continuous&heartbeat=1000`);
  await page.waitForFunction(() => window.isLive);
  await own('PUT', `/${db}/later`, {});
  assert.match(await seen, /"id":"first"/);
});

test('an event source with a cookie, and none without', async () => {
  const events = () => page.evaluate((path) => new Promise((resolve) => {
    const source = new EventSource(path);
    source.onmessage = (event) => { source.close(); resolve(JSON.parse(event.data).id); };
    source.onerror = () => { source.close(); resolve('failed'); };
  }), `/${db}/_changes?feed=eventsource`);
  assert.equal(await events(), 'failed');
  await logIn();
  assert.equal(await events(), 'first');
});

/** The first message of a socket; 'failed' if it does not open. */
const firstMessage = (path, protocol, hello) =>
  page.evaluate(([url, offered, text]) => new Promise((resolve) => {
    const socket = offered ? new WebSocket(url, offered) : new WebSocket(url);
    socket.onopen = () => text && socket.send(text);
    socket.onmessage = (event) => { socket.close(); resolve(event.data); };
    socket.onerror = () => resolve('failed');
  }), [serverUrl.replace('http', 'ws') + path, protocol, hello]);

test('a socket with a cookie, and none without', async () => {
  const hello = JSON.stringify({ type: 'subscribe', id: 'a', db });
  assert.equal(await firstMessage(`/${db}/_changes`), 'failed');
  await logIn();
  assert.match(await firstMessage(`/${db}/_changes`), /"id":"first"/);
  assert.match(await firstMessage('/_changes', 'lectus.changes.v1', hello), /"first"/);
  await ask('/_session', { method: 'DELETE' });
  assert.equal(await firstMessage(`/${db}/_changes`), 'failed');
});

test('over TLS requests share a connection of HTTP/2, and a socket has one of its own', async () => {
  await logIn();
  assert.match(await firstMessage(`/${db}/_changes`), /"id":"first"/);
  const protocols = await page.evaluate(async (path) => {
    await fetch(path);
    return performance.getEntriesByType('resource').map((entry) => entry.nextHopProtocol);
  }, `/${db}/first`);
  assert.ok(protocols.includes(isSecure ? 'h2' : 'http/1.1'), protocols.join());
});

test('a socket ends when its user may not read any more', async () => {
  await logIn();
  const closed = page.evaluate((url) => new Promise((resolve) => {
    const socket = new WebSocket(url);
    socket.onmessage = () => { window.isOpen = true; };
    socket.onclose = ({ code, reason }) => resolve({ code, reason });
  }), `${serverUrl.replace('http', 'ws')}/${db}/_changes`);
  await page.waitForFunction(() => window.isOpen);
  await own('PUT', `/${db}/_security`, { members: { names: ['eve'] } });
  assert.deepEqual(await closed, { code: 1008, reason: 'You are not allowed to access this db.' });
});

/** What PouchDB does in the page: reads, writes, and keeps a database of the browser in step. */
const pouchDb = (options) => page.evaluate(async ([source, url, given]) => {
  if (!window.PouchDB) {
    const script = document.createElement('script');
    script.src = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
    await new Promise((resolve, reject) => {
      Object.assign(script, { onload: resolve, onerror: reject });
      document.head.append(script);
    });
  }
  const fetch = (target, request) => {
    for (const [name, value] of Object.entries(given.headers ?? {})) {
      request.headers.set(name, value);
    }
    return window.PouchDB.fetch(target, request);
  };
  const there = new window.PouchDB(url, { skip_setup: true, auth: given.auth, fetch });
  try {
    await there.get('first');
  } catch ({ status }) {
    return status;
  }
  const here = new window.PouchDB(`local-${Math.random()}`);
  const sync = here.sync(there, { live: true });
  await here.put({ _id: 'from-the-browser' });
  const arrived = async (database, id) => {
    for (;;) {
      try {
        return await database.get(id);
      } catch {
        await new Promise((resolve) => { setTimeout(resolve, 20); });
      }
    }
  };
  await arrived(there, 'from-the-browser');
  await arrived(here, 'first');
  sync.cancel();
  await here.destroy();
  return 'in step';
}, [pouch, `${serverUrl}/${db}`, options]);

test('PouchDB with a password, a token and a cookie', async () => {
  const exp = Math.floor(Date.now() / 1000) + 600;
  const auth = { username: jan.name, password: jan.password };
  assert.equal(await pouchDb({}), 401);
  assert.equal(await pouchDb({ auth }), 'in step');
  assert.equal(
    await pouchDb({ headers: { Authorization: `Bearer ${token({ sub: 'jan', exp })}` } }), 'in step');
  await logIn();
  assert.equal(await pouchDb({}), 'in step');
});
