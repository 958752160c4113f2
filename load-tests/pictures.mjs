// Takes pictures of a server while documents are written: node pictures.mjs URL CHROMIUM FOLDER
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const [url, executablePath, folder] = process.argv.slice(2);
const NAMES = ['orders', 'invoices', 'sessions', 'notes-ann', 'notes-bob', 'sensors-1', 'sensors-2', 'chat'];
const WRITERS = 8;
const PAUSE_MILLIS = 25;
const SECONDS = 120;
const headers = {
  Authorization: `Basic ${Buffer.from('ann:secret').toString('base64')}`,
  'Content-Type': 'application/json',
};

const pause = millis => new Promise(resolve => { setTimeout(resolve, millis); });

async function send(method, path, json) {
  const answer = await fetch(`${url}/${path}`, { method, headers, body: json && JSON.stringify(json) });
  if (!answer.ok) {
    throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  }
  return answer.json();
}

let goesOn = true;

/** More in the first databases than in the last, in waves. */
async function write(writer) {
  for (let i = 0; goesOn; i += 1) {
    const db = NAMES[Math.floor(Math.random() ** 2 * NAMES.length)];
    const id = `${db}-${writer}-${i}`;
    const { rev } = await send('PUT', `${db}/${id}`, { number: i, total: i * 7 % 100, paid: i % 3 === 0 });
    await send('GET', `${db}/${id}`);
    if (i % 9 === 0) {
      await send('DELETE', `${db}/${id}?rev=${rev}`);
    }
    await pause(Math.random() * PAUSE_MILLIS * (2 + Math.sin(Date.now() / 6_000)));
  }
}

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
await Promise.all(NAMES.map(name => send('PUT', name)));
const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer));

const dashboard = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
await dashboard.goto(`${url}/_lectus/`);
await dashboard.fill('#name', 'ann');
await dashboard.fill('#password', 'secret');
await dashboard.click('#log-in button');
await pause(SECONDS * 1_000);
await dashboard.fill('#db', 'orders');
await dashboard.click('#choose button');
await dashboard.locator('#generations', { hasText: 'in use' }).waitFor();
await dashboard.fill('#number', '8');
await dashboard.click('#reshard button');
await dashboard.locator('#shards-note', { hasText: 'Resharded' }).waitFor();
await pause(3_000);
await dashboard.evaluate(() => scrollTo(0, 0));
await dashboard.screenshot({ path: join(folder, 'dashboard.png') });

const fauxton = await browser.newPage({ viewport: { width: 1280, height: 600 } });
await fauxton.goto(`${url}/_utils/#/login`);
await fauxton.fill('#username', 'ann');
await fauxton.fill('#password', 'secret');
await fauxton.click('button[type=submit]');
await fauxton.locator('.Toastify__toast').waitFor();
await fauxton.goto('about:blank');
await fauxton.goto(`${url}/_utils/#/_all_dbs`);
await fauxton.locator('a', { hasText: 'orders' }).first().waitFor();
await fauxton.screenshot({ path: join(folder, 'fauxton.png') });

goesOn = false;
await Promise.all(writers);
await browser.close();
