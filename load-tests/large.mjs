// Loads documents doc-00000000 on, of 25 leaves and 4 kB that no compression shrinks: node large.mjs URL COUNT
import { randomBytes } from 'node:crypto';

const [url, count] = [process.argv[2], Number(process.argv[3])];
const BATCH = 200;
const PADDING_BYTES = 3000;

function body(number) {
  const doc = { _id: `doc-${String(number).padStart(8, '0')}`, padding: randomBytes(PADDING_BYTES).toString('base64') };
  for (let i = 2; i <= 25; i += 1) {
    doc[`m${String(i).padStart(2, '0')}`] = i * 1000 + i;
  }
  return doc;
}

await fetch(url, { method: 'PUT' });
let next = 0;
async function worker() {
  while (next < count) {
    const docs = [];
    for (; docs.length < BATCH && next < count; next += 1) {
      docs.push(body(next));
    }
    const answer = await fetch(`${url}/_bulk_docs`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ docs }),
    });
    if (answer.status !== 201) {
      throw new Error(`_bulk_docs answered ${answer.status}: ${await answer.text()}`);
    }
    await answer.arrayBuffer();
  }
}
await Promise.all([worker(), worker(), worker(), worker()]);
