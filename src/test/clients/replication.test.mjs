// Replication between PouchDB and the server over real data: ClientsTest has loaded LECTUS_DOCUMENTS characters
// of the Unicode database into the database "unicode".
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrived, cancelled, local, remote, revisions } from './pouch.mjs';

const DOCUMENTS = Number(process.env.LECTUS_DOCUMENTS);
const BATCH = { batch_size: DOCUMENTS / 10, batches_limit: 4 };

async function editEvery(db, step, offset, edit) {
  const { rows } = await db.allDocs({ include_docs: true });
  const edited = rows.filter((_, i) => i % step === offset).map((row) => edit({ ...row.doc }));
  const answers = await db.bulkDocs(edited);
  assert.deepEqual(answers.filter((answer) => answer.error), []);
  return edited.length;
}

test('documents replicate from the server, diverge on both sides, and become equal again', async () => {
  const here = local();
  const there = remote('unicode');

  const pulled = await here.replicate.from(there, BATCH);
  assert.equal(pulled.docs_written, DOCUMENTS);
  assert.equal(pulled.doc_write_failures, 0);
  assert.deepEqual(await revisions(here), await revisions(there));

  // Every 9th document is updated on both sides, so these conflict; every 27th of the local updates
  // meets a deletion on the server.
  await editEvery(here, 9, 0, (doc) => ({ ...doc, note: 'here' }));
  await editEvery(here, 10, 3, (doc) => ({ ...doc, _deleted: true }));
  await editEvery(there, 9, 0, (doc) => ({ ...doc, note: 'there' }));
  await editEvery(there, 27, 0, (doc) => ({ ...doc, _deleted: true }));
  await editEvery(there, 14, 5, (doc) => ({ ...doc, extra: [doc.code, { deep: doc.name }] }));
  assert.notDeepEqual(await revisions(here), await revisions(there));

  const pushed = await here.replicate.to(there, BATCH);
  assert.equal(pushed.doc_write_failures, 0);
  assert.ok(pushed.docs_written > DOCUMENTS / 10);
  await here.replicate.from(there, BATCH);

  const mine = await revisions(here);
  const theirs = await revisions(there);
  assert.deepEqual(mine, theirs);
  const conflicted = [...mine.values()].filter((document) => document.leaves.length > 1);
  assert.ok(conflicted.length > DOCUMENTS / 20, `${conflicted.length} documents have conflicts`);
  assert.ok([...mine.values()].some((document) => document.deleted));

  const bodies = async (db) =>
    (await db.allDocs({ include_docs: true, conflicts: true })).rows.map((row) => row.doc);
  assert.deepEqual(await bodies(here), await bodies(there));

  const again = await here.replicate.to(there, BATCH);
  assert.equal(again.docs_written, 0);
  await here.destroy();
});

test('a local database replicates into an empty one, and on from there', async () => {
  const here = local();
  await here.bulkDocs(Array.from({ length: 2_000 }, (_, i) => ({ _id: `doc-${i}`, i, half: i / 2 })));
  const middle = remote();
  await here.replicate.to(middle, BATCH);
  const back = local();
  await back.replicate.from(middle, BATCH);
  assert.deepEqual(await revisions(back), await revisions(here));
  await Promise.all([here.destroy(), back.destroy(), middle.destroy()]);
});

test('live replication carries a write in either direction', async (t) => {
  const here = local();
  const there = remote();
  const sync = here.sync(there, { live: true, retry: true });
  t.after(() => sync.cancel());
  await there.put({ _id: 'from-there', v: 1 });
  assert.equal((await arrived(here, 'from-there')).v, 1);
  await here.put({ _id: 'from-here', v: 2 });
  assert.equal((await arrived(there, 'from-here')).v, 2);
  await cancelled(sync);
  await Promise.all([here.destroy(), there.destroy()]);
});
