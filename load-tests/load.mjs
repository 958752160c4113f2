// Loads documents doc-00000000 on, of 300 bytes with 25 leaves: node load.mjs URL COUNT
const [url, count] = [process.argv[2], Number(process.argv[3])];
const BATCH = 500;

function body(number) {
  const doc = { _id: `doc-${String(number).padStart(8, '0')}` };
  doc.m01 = number;
  for (let i = 2; i <= 25; i += 1) {
    doc[`m${String(i).padStart(2, '0')}`] = i * 1000 + i;
  }
  return doc;
}

async function send(from) {
  const docs = [];
  for (let number = from; number < Math.min(from + BATCH, count); number += 1) {
    docs.push(body(number));
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

await fetch(url, { method: 'PUT' });
let next = 0;
async function worker() {
  while (next < count) {
    const from = next;
    next += BATCH;
    await send(from);
  }
}
await Promise.all([worker(), worker(), worker(), worker()]);
