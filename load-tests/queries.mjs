// What indexes cost and what queries gain, on a running server: see queries.sh.
import http from 'node:http';

const base = process.argv[2];
const documents = Number(process.env.DOCUMENTS ?? 1_000_000);
const written = Number(process.env.WRITTEN ?? 100_000);
const queries = Number(process.env.QUERIES ?? 2_000);
const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });

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

// 20 documents have each group.
const document = (i, count) => ({
  _id: `d${String((i * 7919) % count).padStart(9, '0')}`,
  group: `g${i % (count / 20)}`,
  number: (i * 31) % count,
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

const index = (database, field) => ask('POST', `/${database}/_index`, { index: { fields: [field] }, ddoc: field, name: field });

async function built(database) {
  while ((await ask('GET', `/${database}/_index`)).includes('"building"')) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const row = (...cells) => console.log(`| ${cells.join(' | ')} |`);
row('measured', 'figure', 'beside');
row('---', '---', '---');
const rates = { plain: [], indexed: [] };
for (let round = 0; round < 3; round++) {
  await ask('PUT', `/plain-${round}`);
  await ask('PUT', `/indexed-${round}`);
  for (const field of ['group', 'number', 'name']) await index(`indexed-${round}`, field);
  rates.plain.push(await insert(`plain-${round}`, written));
  rates.indexed.push(await insert(`indexed-${round}`, written));
}
const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
const plain = median(rates.plain);
const indexed = median(rates.indexed);
row('documents/s written, no index', Math.round(plain), '');
row('documents/s written, three indexes', Math.round(indexed), `${Math.round((100 * indexed) / plain)} %`);

await ask('PUT', '/large');
await insert('large', documents);
const began = performance.now();
await index('large', 'group');
await built('large');
row('building an index, documents/s', Math.round(documents / ((performance.now() - began) / 1000)), `${documents} documents`);

const millis = [];
for (let i = 0; i < queries; i++) {
  const at = performance.now();
  const found = JSON.parse(await ask('POST', '/large/_find', { selector: { group: `g${(i * 37) % (documents / 20)}` } }));
  if (found.docs.length !== 20 || found.warning) throw new Error(JSON.stringify(found));
  if (i >= queries / 4) millis.push(performance.now() - at);
}
millis.sort((a, b) => a - b);
row('_find of 20 documents, p50, ms', millis[Math.floor(millis.length / 2)].toFixed(2), `of ${documents}, one client`);
row('_find of 20 documents, p99, ms', millis[Math.floor(millis.length * 0.99)].toFixed(2), '');
agent.destroy();
