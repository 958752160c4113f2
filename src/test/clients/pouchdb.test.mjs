import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrived, cancelled, firstLiveChanges, local, remote } from './pouch.mjs';

test('a document is created, read, updated and deleted', async () => {
  const db = remote();
  const created = await db.put({ _id: 'a/b ü', name: 'first', nested: { list: [1, 2.5, null] } });
  assert.match(created.rev, /^1-[0-9a-f]{32}$/);
  const read = await db.get('a/b ü');
  assert.deepEqual(read, {
    _id: 'a/b ü',
    _rev: created.rev,
    name: 'first',
    nested: { list: [1, 2.5, null] },
  });
  const updated = await db.put({ ...read, name: 'second' });
  assert.match(updated.rev, /^2-/);
  await db.remove('a/b ü', updated.rev);
  await assert.rejects(db.get('a/b ü'), { status: 404, reason: 'deleted' });
  await assert.rejects(db.get('never written'), { status: 404, reason: 'missing' });
  await db.destroy();
});

test('an edit of an old revision conflicts', async () => {
  const db = remote();
  const { rev } = await db.put({ _id: 'doc' });
  await db.put({ _id: 'doc', _rev: rev, v: 2 });
  await assert.rejects(db.put({ _id: 'doc', _rev: rev, v: 3 }), { status: 409, name: 'conflict' });
  await assert.rejects(db.put({ _id: 'doc', v: 3 }), { status: 409, name: 'conflict' });
  await db.destroy();
});

test('bulk writes answer each document, in order', async () => {
  const db = remote();
  await db.put({ _id: 'there' });
  const answers = await db.bulkDocs([{ _id: 'new' }, { _id: 'there' }, { v: 1 }]);
  assert.equal(answers.length, 3);
  assert.deepEqual([answers[0].ok, answers[0].id], [true, 'new']);
  assert.equal(answers[1].status, 409);
  assert.equal(answers[2].ok, true);
  const all = await db.allDocs({ include_docs: true });
  assert.equal(all.total_rows, 3);
  assert.deepEqual(all.rows.map((row) => row.doc._rev), all.rows.map((row) => row.value.rev));
  const some = await db.allDocs({ keys: ['there', 'absent', 'new'] });
  assert.deepEqual(some.rows.map((row) => row.error ?? row.id), ['there', 'not_found', 'new']);
  await db.destroy();
});

test('bulkGet gives leaves and revisions', async () => {
  const db = remote();
  const revisions = { start: 2, ids: ['b'.repeat(32), 'a'.repeat(32)] };
  const other = { start: 2, ids: ['c'.repeat(32), 'a'.repeat(32)] };
  await db.bulkDocs(
    [
      { _id: 'doc', _rev: `2-${'b'.repeat(32)}`, _revisions: revisions, side: 'b' },
      { _id: 'doc', _rev: `2-${'c'.repeat(32)}`, _revisions: other, side: 'c' },
    ],
    { new_edits: false },
  );
  const { results } = await db.bulkGet({ docs: [{ id: 'doc' }], revs: true });
  assert.deepEqual(results[0].docs.map((entry) => entry.ok.side), ['c', 'b']);
  assert.deepEqual(results[0].docs[0].ok._revisions, other);
  const winner = await db.get('doc', { conflicts: true });
  assert.deepEqual(winner._conflicts, [`2-${'b'.repeat(32)}`]);
  await db.destroy();
});

test('local documents stay where they are', async () => {
  const db = remote();
  const { rev } = await db.put({ _id: '_local/checkpoint', seq: 7 });
  assert.equal((await db.get('_local/checkpoint')).seq, 7);
  await db.put({ _id: '_local/checkpoint', _rev: rev, seq: 8 });
  assert.equal((await db.get('_local/checkpoint')).seq, 8);
  assert.equal((await db.info()).doc_count, 0);
  await db.destroy();
});

test('a live feed tells of writes as they happen', async () => {
  const db = remote();
  await db.put({ _id: 'before' });
  const seen = firstLiveChanges(db, 3, { include_docs: true });
  // PouchDB asks for the position of "now" first, so the writes go on until the feed has heard.
  let done = false;
  seen.finally(() => {
    done = true;
  });
  for (let i = 0; !done; i += 1) {
    await db.put({ _id: `doc-${i}`, i });
  }
  const rows = await seen;
  assert.equal(rows.length, 3);
  for (const row of rows) {
    assert.notEqual(row.id, 'before');
    assert.equal(row.doc._rev, row.changes[0].rev);
  }
  assert.equal(rows[1].doc.i, rows[0].doc.i + 1);
  assert.equal(rows[2].doc.i, rows[1].doc.i + 1);
  await db.destroy();
});

test('a channel of a stored feed is replicated live', async () => {
  const [server, device] = [remote(), local()];
  const feed = await server.fetch('_feeds/rooms', {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ channels: 'room' }),
  });
  assert.equal(feed.status, 201);
  await server.bulkDocs([
    { _id: 'here', room: 'red' },
    { _id: 'there', room: 'blue' },
  ]);
  const options = { live: true, filter: '_feed/rooms', query_params: { channel: 'red' } };
  const sync = device.replicate.from(server, options);

  const here = await arrived(device, 'here');
  await server.put({ _id: 'elsewhere', room: 'blue' });
  await server.put({ _id: 'both', room: ['blue', 'red'] });
  await arrived(device, 'both');
  await server.remove(here);
  await server.put({ _id: 'last', room: 'red' });
  await arrived(device, 'last');
  await cancelled(sync);

  const { rows } = await device.allDocs();
  assert.deepEqual(rows.map((row) => row.id), ['both', 'last']);
  await Promise.all([server, device].map((db) => db.destroy()));
});
