import assert from 'node:assert/strict';
import { test } from 'node:test';
import Nano from 'nano';
import { freshName, serverUrl } from './server.mjs';

const nano = Nano(serverUrl);

async function withDatabase(body) {
  const name = freshName('nano');
  assert.deepEqual(await nano.db.create(name), { ok: true });
  try {
    await body(nano.use(name), name);
  } finally {
    assert.deepEqual(await nano.db.destroy(name), { ok: true });
  }
}

test('databases are created, listed, described and destroyed', async () => {
  await withDatabase(async (db, name) => {
    assert.ok((await nano.db.list()).includes(name));
    await assert.rejects(nano.db.create(name), { statusCode: 412, error: 'file_exists' });
    const info = await db.info();
    assert.equal(info.db_name, name);
    assert.equal(info.doc_count, 0);
  });
  await assert.rejects(nano.use(freshName('absent')).info(), { statusCode: 404, error: 'not_found' });
});

test('documents', async () => {
  await withDatabase(async (db) => {
    const first = await db.insert({ happy: true }, 'rabbit');
    assert.equal(first.id, 'rabbit');
    assert.deepEqual(await db.get('rabbit'), { _id: 'rabbit', _rev: first.rev, happy: true });
    await assert.rejects(db.insert({ happy: false }, 'rabbit'), { statusCode: 409, error: 'conflict' });
    const made = await db.insert({ without: 'an id' });
    assert.match(made.id, /^[0-9a-f]{32}$/);
    const head = await db.head('rabbit');
    assert.equal(head.etag, `"${first.rev}"`);
    const withRevs = await db.get('rabbit', { revs_info: true });
    assert.deepEqual(withRevs._revs_info, [{ rev: first.rev, status: 'available' }]);
    const gone = await db.destroy('rabbit', first.rev);
    assert.equal(gone.ok, true);
    await assert.rejects(db.get('rabbit'), { statusCode: 404, reason: 'deleted' });
  });
});

test('bulk, list and fetch', async () => {
  await withDatabase(async (db) => {
    const docs = Array.from({ length: 100 }, (_, i) => ({ _id: `doc${String(i).padStart(3, '0')}`, i }));
    const answers = await db.bulk({ docs });
    assert.equal(answers.filter((answer) => answer.ok).length, 100);
    const page = await db.list({ startkey: 'doc010', limit: 5, include_docs: true });
    assert.deepEqual(page.rows.map((row) => row.doc.i), [10, 11, 12, 13, 14]);
    const down = await db.list({ startkey: 'doc010', descending: true, limit: 2 });
    assert.deepEqual(down.rows.map((row) => row.id), ['doc010', 'doc009']);
    const fetched = await db.fetch({ keys: ['doc099', 'nope', 'doc000'] });
    assert.deepEqual(fetched.rows.map((row) => row.doc?.i ?? row.error), [99, 'not_found', 0]);
  });
});

test('the changes feed and its reader', async () => {
  await withDatabase(async (db) => {
    await db.bulk({ docs: [{ _id: 'a' }, { _id: 'b' }, { _id: 'c' }] });
    const changes = await db.changes({ include_docs: true });
    assert.deepEqual(changes.results.map((row) => row.doc._id).sort(), ['a', 'b', 'c']);
    assert.equal(changes.pending, 0);
    assert.equal(changes.last_seq, changes.results[2].seq);
    const batches = await new Promise((resolve, reject) => {
      const seen = [];
      db.changesReader
        .get({ since: 0, batchSize: 2, timeout: 500 })
        .on('batch', (rows) => seen.push(rows.map((row) => row.id)))
        .on('end', () => resolve(seen))
        .on('error', reject);
    });
    assert.deepEqual(batches.flat(), changes.results.map((row) => row.id));
  });
});

test('purges, which only the server itself remembers', async () => {
  await withDatabase(async (db, name) => {
    const { rev } = await db.insert({ v: 1 }, 'a');
    const kept = await db.insert({ v: 2 }, 'b');
    const answer = await nano.request({ db: name, path: '_purge', method: 'post', body: { a: [rev] } });
    assert.deepEqual(answer, { purge_seq: null, purged: { a: [rev] } });
    await assert.rejects(db.get('a'), { statusCode: 404, reason: 'missing' });
    const { results } = await db.changes();
    assert.deepEqual(results.map((row) => row.id), ['b']);
    const infos = await nano.request({ db: name, path: '_purged_infos' });
    assert.deepEqual(infos.purged_infos.map(({ id, revs }) => [id, revs]), [['a', [rev]]]);
    assert.equal((await db.get('b'))._rev, kept.rev);
  });
});
