// What stored feeds cost writers and give readers, on a running server: see stored-feeds.sh.
import http from 'node:http';

const base = process.argv[2];
const documents = Number(process.env.DOCUMENTS ?? 1_000_000);
const written = Number(process.env.WRITTEN ?? 60_000);
const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
const MEMBERS = 1_000;

function ask(method, path, body) {
  return new Promise((resolve, reject) => {
    const data = body === undefined ? undefined : JSON.stringify(body);
    const headers = data === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(data) };
    const request = http.request(base + path, { method, agent, headers }, (answer) => {
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        answer.statusCode < 300 ? resolve(text) : reject(new Error(`${answer.statusCode} ${text}`));
      });
    });
    request.on('error', reject);
    request.end(data);
  });
}

// Each is in five channels; a thousand of a million are in "small", evenly spread.
const document = (i, count) => ({
  _id: `d${String((i * 7919) % count).padStart(9, '0')}`,
  channels: [0, 1, 2, 3, 4].map((n) => `c${(i * 5 + n) % 1000}`),
  room: i % Math.max(1, count / MEMBERS) === 0 ? 'small' : `r${i % 100}`,
  name: `name ${i % 1000}`,
  text: 'x'.repeat(100),
});

async function insert(database, count) {
  let next = 0;
  const began = performance.now();
  async function writer() {
    while (next < count) {
      const from = next;
      next += 1000;
      const docs = [];
      for (let i = from; i < Math.min(count, from + 1000); i++) docs.push(document(i, count));
      await ask('POST', `/${database}/_bulk_docs`, { docs });
    }
  }
  await Promise.all(Array.from({ length: 4 }, writer));
  return count / ((performance.now() - began) / 1000);
}

const row = (...cells) => console.log(`| ${cells.join(' | ')} |`);
const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
row('measured', 'figure', 'beside');
row('---', '---', '---');
const rates = { plain: [], fed: [] };
for (let round = 0; round < 4; round++) {
  await ask('PUT', `/plain-${round}`);
  await ask('PUT', `/fed-${round}`);
  await ask('PUT', `/fed-${round}/_feeds/f`, { channels: 'channels' });
  const plain = await insert(`plain-${round}`, written);
  const fed = await insert(`fed-${round}`, written);
  if (round > 0) {
    rates.plain.push(plain);
    rates.fed.push(fed);
  }
}
const plain = median(rates.plain);
const fed = median(rates.fed);
row('documents/s written, no stored feed', Math.round(plain), '');
row('documents/s written, each into five channels', Math.round(fed), `${Math.round((100 * fed) / plain)} %`);

await ask('PUT', '/large');
await insert('large', documents);
const began = performance.now();
await ask('PUT', '/large/_feeds/rooms', { channels: 'room' });
while (!(await ask('GET', '/large/_feeds/rooms')).includes('"ready"')) {
  await new Promise((resolve) => setTimeout(resolve, 100));
}
row('documents/s filled', Math.round(documents / ((performance.now() - began) / 1000)), `${documents} documents`);

const path = '/large/_changes?filter=_feed/rooms&channel=small&since=0';
const times = [];
for (let i = 0; i < 60; i++) {
  const asked = performance.now();
  const rows = (await ask('GET', path)).split('{"seq"').length - 1;
  if (rows !== MEMBERS) throw new Error(`${rows} rows`);
  if (i >= 10) times.push(performance.now() - asked);
}
times.sort((a, b) => a - b);
row('ms, a channel of 1000 documents from the beginning', median(times).toFixed(1), `p99 ${times[48].toFixed(1)}`);
