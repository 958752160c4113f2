import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { startBrowser } from './browser.mjs';
import { freshName, serverUrl } from './server.mjs';

let browser;
let stop;
let page;
let complaints;
let db;

before(async () => {
  ({ browser, stop } = await startBrowser());
});

after(async () => {
  await stop?.();
});

beforeEach(async () => {
  db = freshName('page');
  await put('');
  page = await browser.newPage();
  complaints = [];
  page.on('pageerror', error => complaints.push(String(error)));
  page.on('console', line => line.type() === 'error' && complaints.push(line.text()));
  page.on('dialog', dialog => {
    complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  await page.goto(`${serverUrl}/_example/`);
  await page.locator('#status', { hasText: /^live$/ }).waitFor();
});

afterEach(async () => {
  await page.close();
  assert.deepEqual(complaints, []);
  await fetch(`${serverUrl}/${db}`, { method: 'DELETE' });
});

async function put(path, body) {
  const answer = await fetch(`${serverUrl}/${db}${path}`, {
    method: 'PUT', body: body && JSON.stringify(body),
  });
  assert.ok(answer.ok, await answer.text());
}

async function subscribe(databases) {
  await page.fill('#databases', databases);
  await page.click('#subscribe button[type=submit]');
}

const row = id => page.locator('#rows tr', { has: page.getByText(id, { exact: true }) });
const card = id => page.locator(`#subscription-${id}`);
const caughtUp = id => card(id).locator('.state', { hasText: 'caught up' }).waitFor();

test('rows that are there come first, then those that are written', async () => {
  await put('/early', { text: 'before' });
  await subscribe(db);
  await row('early').waitFor();
  await caughtUp('s1');

  await put('/late', { text: 'after' });
  await row('late').waitFor();
  await caughtUp('s1');
  assert.equal(await page.locator('#rows tr').count(), 2);
});

test('a document is edited from the page', async () => {
  await subscribe(db);
  await caughtUp('s1');
  await page.fill('#db', db);
  await page.fill('#doc', 'note/1 ü');
  await page.fill('#json', '{"text":"written here"}');
  await page.click('#editor button[type=submit]');
  await row('note/1 ü').waitFor();

  await row('note/1 ü').click();
  await page.locator('#written', { hasText: 'This is 1-' }).waitFor();
  const shown = JSON.parse(await page.inputValue('#json'));
  assert.equal(shown.text, 'written here');
  await page.fill('#json', JSON.stringify({ ...shown, text: 'again' }));
  await page.click('#editor button[type=submit]');
  await page.locator('#written', { hasText: 'Saved as 2-' }).waitFor();
  await page.click('#delete');
  await page.locator('#rows tr.deleted').waitFor();
  assert.equal(await page.locator('#rows tr').count(), 3);
});

test('a conflict is shown', async () => {
  await put('/taken', {});
  await page.fill('#db', db);
  await page.fill('#doc', 'taken');
  await page.click('#editor button[type=submit]');
  await page.locator('#written[data-bad]', { hasText: 'conflict' }).waitFor();
  // The browser says of each 4xx answer that it could not load a resource.
  complaints = complaints.filter(text => !text.includes('409'));
});

test('after a lost connection each row comes once', async () => {
  await put('/first', {});
  await subscribe(db);
  await row('first').waitFor();
  await caughtUp('s1');

  await page.click('#drop');
  await page.locator('#status', { hasText: 'reconnecting' }).waitFor();
  await put('/meanwhile', {});
  await row('meanwhile').waitFor();
  await caughtUp('s1');
  await put('/then', {});
  await row('then').waitFor();
  assert.equal(await page.locator('#rows tr').count(), 3);
});

test('a reload goes on where the page stood', async () => {
  await put('/first', {});
  await subscribe(db);
  await row('first').waitFor();
  await caughtUp('s1');

  await page.reload();
  await caughtUp('s1');
  await put('/second', {});
  await row('second').waitFor();
  assert.equal(await page.locator('#rows tr').count(), 1);
});

test('more rows than credits', async () => {
  const docs = Array.from({ length: 1000 }, (_, i) => ({ _id: `d${i}` }));
  await fetch(`${serverUrl}/${db}/_bulk_docs`, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ docs }),
  });
  await subscribe(db);
  await page.locator('#count', { hasText: '1000 rows' }).waitFor();
  await caughtUp('s1');
});

test('a pattern brings databases that appear later', async () => {
  await put('/early', {});
  await subscribe(`${db}*`);
  await row('early').waitFor();
  await caughtUp('s1');

  const first = db;
  db = `${first}-later`;
  await put('');
  await put('/late', {});
  await row('late').waitFor();
  await page.click('#drop');
  await put('/then', {});
  await row('then').waitFor();
  assert.equal(await page.locator('#rows tr').count(), 3);
  await fetch(`${serverUrl}/${first}`, { method: 'DELETE' });
  await card('s1').getByText(`${first} was deleted`).waitFor();
});

test('an id is text, whatever it looks like', async () => {
  const id = '<img src=x onerror=alert(1)><script>alert(2)</script>';
  await put(`/${encodeURIComponent(id)}`, {});
  await subscribe(db);
  await row(id).waitFor();
  assert.equal(await page.locator('#rows img, #rows script').count(), 0);
});

test('a database that is missing or deleted is told', async () => {
  await subscribe(freshName('absent'));
  await card('s1').locator('.state', { hasText: 'failed' }).waitFor();
  await card('s1').getByText('Database does not exist.').waitFor();

  await subscribe(db);
  await caughtUp('s2');
  await fetch(`${serverUrl}/${db}`, { method: 'DELETE' });
  await card('s2').getByText(`${db} was deleted`).waitFor();
  await card('s2').locator('.state', { hasText: 'ended' }).waitFor();
});

test('nothing but the page itself may run or load', async () => {
  const answer = await fetch(`${serverUrl}/_example/`);
  assert.match(answer.headers.get('content-security-policy'), /default-src 'none'/);
  const blocked = await page.evaluate(async () => {
    const told = new Promise(resolve =>
      document.addEventListener('securitypolicyviolation', event => resolve(event.effectiveDirective)));
    const image = new Image();
    image.src = 'data:image/gif;base64,R0lGODlhAQABAAAAACw=';
    return told;
  });
  assert.equal(blocked, 'img-src');
  complaints = [];
});
