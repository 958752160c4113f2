// What Obsidian's LiveSync does: files cut into chunks, each a document with one long base64 string.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { local, remoteOfUser, revisions } from './pouch.mjs';

const BATCH = { batch_size: 50, batches_limit: 40 };

function chunk(name, bytes) {
  const data = randomBytes((bytes / 4) * 3).toString('base64');
  return { _id: `h:${name}`, data, type: 'leaf' };
}

function chunks() {
  const small = Array.from({ length: 20 }, (_, i) => chunk(`small-${i}`, 136_000));
  return [...small, chunk('middle', 1_000_000), chunk('large', 5_000_000)];
}

/** Larger than any document may be. */
const tooLarge = () => chunk('too-large', 12_000_000);

async function assertSame(db, docs) {
  const { rows } = await db.allDocs({ include_docs: true, keys: docs.map((doc) => doc._id) });
  assert.deepEqual(rows.map(({ doc: { _rev, ...members } }) => members), docs);
}

test('chunks of any size are pushed, and pulled by another device', async () => {
  const docs = chunks();
  const [one, another, server] = [local(), local(), remoteOfUser()];
  await one.bulkDocs(docs);

  assert.equal((await one.replicate.to(server, BATCH)).docs_written, docs.length);
  assert.equal((await another.replicate.from(server, BATCH)).docs_written, docs.length);

  await assertSame(another, docs);
  assert.deepEqual(await revisions(another), await revisions(one));
  await Promise.all([one, another, server].map((db) => db.destroy()));
});

test('of a batch with a chunk that is too large the others are written', async () => {
  const docs = chunks();
  const server = remoteOfUser();
  const answers = await server.bulkDocs([docs[0], tooLarge(), ...docs.slice(1)]);

  assert.equal(answers.length, docs.length + 1);
  assert.equal(answers[1].id, 'h:too-large');
  assert.ok(answers[1].reason);
  assert.deepEqual(answers.flatMap((answer) => (answer.error ? [answer.id] : [])), ['h:too-large']);
  await assertSame(server, docs);
  await server.destroy();
});

test('a chunk that is too large does not keep the others from being replicated', async () => {
  const docs = [...chunks(), ...Array.from({ length: 100 }, (_, i) => chunk(`late-${i}`, 4_000))];
  const [device, server] = [local(), remoteOfUser()];
  await device.bulkDocs([docs[0], tooLarge(), ...docs.slice(1)]);
  const denied = [];

  const outcome = await device.replicate.to(server, BATCH).on('denied', (row) => denied.push(row));

  assert.equal(outcome.status, 'complete');
  assert.equal(outcome.doc_write_failures, 1);
  assert.equal(outcome.docs_written, docs.length);
  assert.deepEqual(denied.map(({ id, name }) => [id, name]), [['h:too-large', 'forbidden']]);
  assert.match(denied[0].reason, /^document_too_large: /);
  await assertSame(server, docs);
  await assert.rejects(server.get('h:too-large'), { status: 404 });
  const next = await device.replicate.to(server, BATCH);
  assert.equal(next.docs_read, 0);
  await Promise.all([device.destroy(), server.destroy()]);
});
