// RxDB's replication with CouchDB: its own dialect of _changes, _bulk_docs and _all_docs.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createRxDatabase } from 'rxdb';
import { replicateCouchDB } from 'rxdb/plugins/replication-couchdb';
import { getRxStorageMemory } from 'rxdb/plugins/storage-memory';
import { arrived, remote } from './pouch.mjs';
import { freshName } from './server.mjs';

const schema = {
  version: 0,
  type: 'object',
  primaryKey: 'id',
  properties: { id: { type: 'string', maxLength: 100 }, v: { type: 'number' }, text: { type: 'string' } },
};

// A feed that RxDB has given up may go on, and would keep this process.
after(() => setTimeout(() => process.exit(), 1000).unref());

/** A collection with the name of a device, replicated live with the server's database. */
async function device(there) {
  const db = await createRxDatabase({ name: freshName('rx'), storage: getRxStorageMemory(), multiInstance: false });
  const { notes } = await db.addCollections({ notes: { schema } });
  const replication = replicateCouchDB({
    replicationIdentifier: db.name,
    collection: notes,
    url: `${there.name}/`,
    fetch,
    live: true,
    retryTime: 50,
    pull: { batchSize: 7, heartbeat: 1000 },
    push: { batchSize: 5 },
  });
  const failures = [];
  replication.error$.subscribe((failure) => failures.push(failure));
  await replication.awaitInitialReplication();
  const close = async () => {
    await replication.cancel();
    await db.close();
    assert.deepEqual(failures, []);
  };
  return { notes, replication, close };
}

/** The first state of the document that the condition takes. */
function seen(notes, id, condition) {
  return new Promise((resolve) => {
    const subscription = notes.findOne(id).$.subscribe((doc) => {
      if (condition(doc)) {
        resolve(doc);
        setImmediate(() => subscription.unsubscribe());
      }
    });
  });
}

test('RxDB sends documents, changes and deletions, and another device gets them live', async () => {
  const there = remote();
  await there.info();
  const [one, two] = [await device(there), await device(there)];
  const docs = Array.from({ length: 30 }, (_, i) => ({ id: `n${i}`, v: i, text: `ü ${i}` }));
  await one.notes.bulkInsert(docs);
  await seen(two.notes, 'n29', Boolean);
  await one.replication.awaitInSync();
  assert.equal((await there.allDocs()).total_rows, docs.length);
  const { _id, _rev, ...n7 } = await there.get('n7');
  assert.deepEqual([_id, n7], ['n7', { v: 7, text: 'ü 7' }]);

  await (await one.notes.findOne('n7').exec()).patch({ v: 700 });
  await (await two.notes.findOne('n8').exec()).remove();
  await seen(two.notes, 'n7', (doc) => doc?.v === 700);
  await seen(one.notes, 'n8', (doc) => doc === null);
  await assert.rejects(there.get('n8'), { status: 404, reason: 'deleted' });
  await Promise.all([one.close(), two.close()]);
});

test('RxDB gets what was there before, and what others write', async () => {
  const there = remote();
  await there.bulkDocs(Array.from({ length: 40 }, (_, i) => ({ _id: `n${i}`, v: i, text: 't' })));
  await there.remove(await there.get('n3'));
  const { notes, replication, close } = await device(there);
  assert.deepEqual((await notes.find().exec()).length, 39);
  await there.put({ ...(await there.get('n5')), v: 500 });
  await there.remove(await there.get('n6'));
  await seen(notes, 'n5', (doc) => doc?.v === 500);
  await seen(notes, 'n6', (doc) => doc === null);
  await notes.insert({ id: 'mine', v: 1, text: 'x' });
  assert.equal((await arrived(there, 'mine')).v, 1);
  await replication.awaitInSync();
  await close();
});
