// Writes documents of 1 kB of random text with known ids and revisions, or deletes them:
//   node load-tests/purge.mjs URL-OF-DATABASE DOCUMENTS write|delete
import { createHash, randomBytes } from 'node:crypto';

const [database, count, what] = process.argv.slice(2);
const batch = 1000;
const hash = (text) => createHash('md5').update(text).digest('hex');

function document(i) {
  const id = `d${hash(`${i}`)}`;
  const first = hash(`first ${i}`);
  return what === 'write'
    ? { _id: id, _rev: `1-${first}`, text: randomBytes(720).toString('base64') }
    : { _id: id, _rev: `2-${hash(`second ${i}`)}`, _deleted: true, _revisions: { start: 2, ids: [hash(`second ${i}`), first] } };
}

async function send(from) {
  const docs = Array.from({ length: Math.min(batch, count - from) }, (_, i) => document(from + i));
  const answer = await fetch(`${database}/_bulk_docs`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ new_edits: false, docs }),
  });
  const failed = await answer.json();
  if (answer.status !== 201 || failed.length > 0) {
    throw new Error(`${answer.status} ${JSON.stringify(failed).slice(0, 200)}`);
  }
}

for (let from = 0; from < count; from += batch) {
  await send(from);
}
