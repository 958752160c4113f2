// The dashboard in the jar, in a real browser, over a server under load.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { startBrowser } from './browser.mjs';
import { freshName, serverUrl } from './server.mjs';

const WRITERS = 6;

/** Of a writer between two documents, in milliseconds: others have the processors, too. */
const PAUSE = 20;
const MOST_ROWS = 100;

const password = process.env.LECTUS_PASSWORD;
const basic = `Basic ${Buffer.from(`root:${password}`).toString('base64')}`;

let browser;
let stop;
let page;
let complaints;
let databases;
let isLoggedIn = false;

before(async () => {
  ({ browser, stop } = await startBrowser());
  // So that a test can cut off what the page opened.
  await browser.addInitScript(() => {
    window.opened = [];
    window.WebSocket = class extends WebSocket {
      constructor(...given) {
        super(...given);
        window.opened.push(this);
      }
    };
  });
  databases = ['a', 'b', 'c'].map(freshName);
  await Promise.all(databases.map(name => own('PUT', name)));
});

after(async () => {
  await stop?.();
});

beforeEach(async () => {
  page = await browser.newPage();
  page.setDefaultTimeout(10_000);
  complaints = [];
  page.on('pageerror', error => complaints.push(String(error)));
  page.on('response', answer => answer.status() >= 500 && complaints.push(answer.url()));
  page.on('dialog', dialog => {
    complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  await page.goto(`${serverUrl}/_lectus/`);
  if (isLoggedIn) {
    await begun();
  }
});

afterEach(async () => {
  await page.close();
  assert.deepEqual(complaints, []);
});

async function own(method, path, json) {
  const answer = await fetch(`${serverUrl}/${path}`, {
    method,
    body: json && JSON.stringify(json),
    headers: { Authorization: basic, 'Content-Type': 'application/json' },
  });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
  return answer.json();
}

/** Works while others write and read documents. */
async function underLoad(work) {
  let goesOn = true;
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    for (let i = 0; goesOn; i++) {
      const path = `${databases[i % databases.length]}/${freshName(`w${writer}`)}`;
      await own('PUT', path, { i });
      await own('GET', path);
      await new Promise(later => setTimeout(later, PAUSE));
    }
  });
  try {
    return await work();
  } finally {
    goesOn = false;
    await Promise.all(writers);
  }
}

/** What is written from now on is shown. */
const begun = () => page.locator('#feed-note', { hasText: 'Whatever is written' }).waitFor();

async function logIn() {
  await page.fill('#name', 'root');
  await page.fill('#password', password);
  await page.locator('#password').press('Enter');
  await page.locator('#who', { hasText: 'root' }).waitFor();
  await begun();
  isLoggedIn = true;
}

/** A page is never wider than its screen. Who wants to look at it names a folder. */
async function picture(name) {
  const folder = process.env.LECTUS_PICTURES;
  if (folder) {
    await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
  }
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), name);
}

const NARROW = { width: 360, height: 740 };

const row = id => page.locator('#rows tr', { has: page.getByText(id, { exact: true }) });
const plot = title => page.locator('.plot', { hasText: title }).locator('svg');
const said = async title => (await plot(title).getAttribute('aria-label')) ?? '';

/** Waits until a figure of a plot is above zero. */
const moves = (title, line) => page.waitForFunction(([wanted, beginning]) =>
  [...document.querySelectorAll('.plot svg')].some(svg => {
    const text = svg.getAttribute('aria-label') ?? '';
    const now = text.match(new RegExp(`${beginning}: now ([\\d.,]+)`))?.[1];
    return text.startsWith(wanted) && Number(now?.replace(',', '')) > 0;
  }), [title, line]);

test('a browser is led to the dashboard, which asks who it is and for nothing else', async () => {
  const asked = [];
  const visit = await browser.newPage();
  visit.on('request', request => asked.push(new URL(request.url()).pathname));
  visit.on('websocket', () => asked.push('a socket'));
  await visit.clock.install();
  await visit.goto(`${serverUrl}/`);
  assert.equal(visit.url(), `${serverUrl}/_lectus/`);
  await visit.locator('#log-in').waitFor();
  await visit.clock.runFor(60_000);
  assert.deepEqual([...new Set(asked)].filter(it => !it.startsWith('/_lectus/')).sort(), ['/', '/_session']);
  assert.equal(asked.filter(it => it === '/_session').length, 1);
  assert.equal(await visit.locator('#dashboard').isVisible(), false);
  await visit.close();
});

test('whoever is nobody sees a form, and a wrong password is told', async () => {
  await page.locator('#log-in').waitFor();
  await picture('log-in');
  await page.fill('#name', 'root');
  await page.fill('#password', 'wrong');
  await page.click('#log-in button');
  await page.locator('#refused', { hasText: 'Name or password is incorrect.' }).waitFor();
  assert.equal(await page.inputValue('#password'), '');
  assert.equal(await page.locator('#dashboard').isVisible(), false);
  await picture('wrong-password');
  await page.setViewportSize(NARROW);
  await picture('wrong-password-narrow');
});

test('a server without anything says so', async () => {
  await logIn();
  await page.locator('#tasks-note', { hasText: 'None.' }).waitFor();
  await page.getByText('None so far.').waitFor();
  await page.getByText('Choose a database.').waitFor();
  await picture('empty');
  await page.setViewportSize(NARROW);
  await picture('empty-narrow');
});

test('a user who is no admin is told what is for others, which is asked for once', async () => {
  await own('PUT', '_users');
  const jan = { name: 'jan', password: 'apple', type: 'user', roles: [] };
  await own('PUT', '_users/org.couchdb.user:jan', jan);
  await page.click('#log-out');
  await page.locator('#log-in').waitFor();
  await page.fill('#name', 'jan');
  await page.fill('#password', 'apple');
  await page.click('#log-in button');
  await page.locator('#figures-note', { hasText: '_metrics' }).waitFor();
  await page.locator('#tasks-note', { hasText: 'Shown to admins.' }).waitFor();
  await page.locator('#members-note', { hasText: 'Shown to admins.' }).waitFor();
  await picture('no-admin');
  await page.click('#log-out');
  await page.locator('#log-in').waitFor();
  await logIn();
});

test('the build of a view is shown with its progress', async () => {
  const name = freshName('built');
  await own('PUT', name);
  const docs = Array.from({ length: 800 }, (_, i) => ({ _id: `d${i}` }));
  await own('POST', `${name}/_bulk_docs`, { docs });
  const map = 'function(doc){for(var end=Date.now()+10;Date.now()<end;);emit(doc._id)}';
  await own('PUT', `${name}/_design/slow`, { views: { v: { map } } });
  await own('GET', `${name}/_design/slow/_view/v?update=lazy`);
  const task = page.locator('#tasks li', { hasText: '_design/slow' });
  await task.locator('progress').waitFor();
  await picture('build');
});

test('under load, all plots move, and rows of many databases appear', async () => {
  await page.locator('#members', { hasText: 'lectus@' }).waitFor();
  await underLoad(async () => {
    await moves('Throughput', 'requests');
    await moves('Throughput', 'rows to feeds');
    await moves('Latency of requests', 'half');
    await moves('Delivery lag', '99 %');
    await moves('Time to commit', '99 %');
    for (const name of databases) {
      await page.locator('#rows td:first-child', { hasText: name }).first().waitFor();
      await page.locator('#busiest button', { hasText: name }).waitFor();
    }
    const before = await plot('Throughput').locator('path.hue-0').getAttribute('d');
    await page.waitForFunction(earlier =>
      document.querySelector('.plot path.hue-0').getAttribute('d').length > earlier.length, before);
    await page.waitForFunction(
      most => document.querySelectorAll('#rows tr').length === most, MOST_ROWS);
  });
  const cleared = await page.evaluate(() => {
    document.querySelector('#members button').click();
    return document.querySelector('.plot svg').getAttribute('aria-label');
  });
  assert.match(cleared, /requests: now –/);
  await page.locator('#whose', { hasText: 'lectus@' }).waitFor();
  await underLoad(() => moves('Throughput', 'requests'));
  assert.match(await said('Throughput'), /^Throughput, \/s\. requests: now [\d.,]+, at most/);
});

test('only as many rows are kept as can be read', async () => {
  const docs = Array.from({ length: 1000 }, (_, i) => ({ _id: `many-${i}` }));
  await own('POST', `${databases[0]}/_bulk_docs`, { docs });
  await own('PUT', `${databases[0]}/the-last`, {});
  await row('the-last').waitFor();
  assert.equal(await page.locator('#rows tr').count(), MOST_ROWS);
});

test('a resharding is seen, wherever it was asked for', async () => {
  await underLoad(async () => {
    await page.locator('#busiest button', { hasText: databases[1] }).click();
    await page.locator('#generations', { hasText: '1 shard (0), in use' }).waitFor();
    await own('PUT', `${databases[1]}/_changes/_meta`, { shards: 5 });
    await page.locator('#shards-note', { hasText: 'Resharded: from 1 to 5.' }).waitFor();
    await page.fill('#number', '3');
    await page.click('#reshard button');
    await page.locator('#shards-note', { hasText: 'Resharded: from 5 to 3.' }).waitFor();
  });
  await page.setViewportSize(NARROW);
  await picture('under-load-narrow');
  assert.equal(await page.locator('#generations li').count(), 3);
  assert.equal(await page.locator('#generations .current .cells span').count(), 3);
  const { generations } = await own('GET', `${databases[1]}/_changes/_meta`);
  assert.equal(generations.at(-1).shards.length, 3);
});

test('a database that is not there is told', async () => {
  await page.fill('#db', 'absent/<b>');
  await page.click('#choose button');
  await page.locator('#shards-note[data-bad]').waitFor();
  assert.equal(await page.locator('#reshard').isVisible(), false);
  await page.fill('#db', 'absent');
  const asked = [];
  page.on('request', request => request.url().endsWith('/absent/_changes/_meta') && asked.push(1));
  await page.click('#choose button');
  await page.locator('#shards-note', { hasText: 'Database does not exist.' }).waitFor();
  // Its running tasks were asked for twice meanwhile, as often as a database that is there.
  for (let i = 0; i < 2; i++) {
    await page.waitForResponse(answer => answer.url().endsWith('/_active_tasks'));
  }
  assert.equal(asked.length, 1);
  await picture('unknown-database');
  await page.setViewportSize(NARROW);
  await picture('unknown-database-narrow');
});

test('an id is text, whatever it looks like', async () => {
  const ids = ['<img src=x onerror=alert(1)>', '<script>alert(2)</script>', '"><svg onload=alert(3)>'];
  for (const id of ids) {
    await own('PUT', `${databases[2]}/${encodeURIComponent(id)}`, {});
    await row(id).waitFor();
  }
  assert.equal(await page.locator('main img, main script, main tr svg').count(), 0);
});

test('after a lost connection each row comes once', async () => {
  await own('PUT', `${databases[0]}/one`, {});
  await row('one').waitFor();
  await page.evaluate(() => window.opened.at(-1).close());
  await page.locator('#status', { hasText: 'reconnecting' }).waitFor();
  await own('PUT', `${databases[0]}/two`, {});
  await row('two').waitFor();
  await page.locator('#status', { hasText: /^live$/ }).waitFor();
  await own('PUT', `${databases[0]}/three`, {});
  await row('three').waitFor();
  for (const id of ['one', 'two', 'three']) {
    assert.equal(await row(id).count(), 1);
  }
});

test('others can be followed, and the rows stand still for a reader', async () => {
  await page.fill('#databases', `${databases[2]}, absent`);
  await page.click('#follow button[type=submit]');
  await begun();
  await own('PUT', `${databases[0]}/other`, {});
  await own('PUT', `${databases[2]}/followed`, {});
  await row('followed').waitFor();
  assert.equal(await row('other').count(), 0);

  await page.click('#pause');
  assert.equal(await page.getAttribute('#pause', 'aria-pressed'), 'true');
  await own('PUT', `${databases[2]}/unseen`, {});
  await page.locator('#busiest button', { hasText: databases[2] }).waitFor();
  await page.click('#pause');
  await own('PUT', `${databases[2]}/seen`, {});
  await row('seen').waitFor();
  assert.equal(await row('unseen').count(), 0);
});

test('it is used without a mouse, and read out', async () => {
  await own('PUT', `${databases[0]}/again`, {});
  await page.locator('#busiest button', { hasText: databases[0] }).focus();
  await page.keyboard.press('Enter');
  await page.locator('#generations', { hasText: 'in use' }).waitFor();
  const nameless = await page.evaluate(() =>
    [...document.querySelectorAll('input, button, svg, section, [tabindex]')]
      .filter(it => !(it.labels?.length || it.textContent.trim() || it.getAttribute('aria-label')
        || it.getAttribute('aria-labelledby')))
      .map(it => it.outerHTML));
  assert.deepEqual(nameless, []);
});

test('what lies between two readings of the figures', async () => {
  const told = await page.evaluate(async () => {
    const { Figures, Interval } = await import('./figures.js');
    const text = (a, b, all, started = 1) => [
      '# TYPE h histogram', `process_start_time_seconds ${started}`, `h_bucket{route="/{db}/x",le="0.1"} ${a}`, `h_bucket{le="1.0"} ${b}`,
      `h_bucket{le="+Inf"} ${all}`, `n_total{route="a \\"b\\" }",status="200"} ${all}.0`, 'broken',
    ].join('\n');
    const from = new Figures(text(5, 5, 5), 1_000);
    const interval = new Interval(from, new Figures(text(5, 15, 15), 3_000));
    return [
      interval.perSecond('n_total'), interval.perSecond('n_total', it => it.route === 'a'),
      interval.quantile('h', 0.5), interval.quantile('absent', 0.5),
      new Interval(from, from).quantile('h', 0.5),
      new Interval(from, new Figures(text(0, 0, 2), 2_000)).perSecond('n_total'),
      new Interval(from, new Figures(text(5, 5, 9), 2_000)).quantile('h', 0.99),
      new Interval(from, new Figures(text(5, 15, 15, 2), 3_000)).perSecond('n_total'),
      new Interval(from, new Figures(text(5, 15, 15, 2), 3_000)).quantile('h', 0.5),
    ];
  });
  assert.deepEqual(told, [5, 0, 0.55, null, null, null, 1, null, null]);
});

test('nothing but the page itself may run or load', async () => {
  const answer = await fetch(`${serverUrl}/_lectus/`);
  const policy = answer.headers.get('content-security-policy');
  assert.match(policy, /default-src 'none'; script-src 'self';/);
  const blocked = await page.evaluate(async () => {
    const told = new Promise(resolve => {
      document.addEventListener('securitypolicyviolation', event => resolve(event.effectiveDirective));
    });
    const image = new Image();
    image.src = 'data:image/gif;base64,R0lGODlhAQABAAAAACw=';
    return told;
  });
  assert.equal(blocked, 'img-src');
});

test('log out', async () => {
  await page.click('#log-out');
  await page.locator('#log-in').waitFor();
  assert.equal(await page.locator('#dashboard').isVisible(), false);
  assert.equal(await page.evaluate(async () => (await fetch('/_all_dbs')).status), 401);
});
