// Clients that bring the name and the password of an admin in the ways that they have.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudantV1, CouchdbSessionAuthenticator } from '@ibm-cloud/cloudant';
import Nano from 'nano';
import { PouchDB, arrived, cancelled, local, remoteOfUser, revisions } from './pouch.mjs';
import { freshName, serverUrl, serverUrlOfUser, user } from './server.mjs';

const FIVE_MEGABYTES = 'x'.repeat(5_000_000);

test('PouchDB, from creating a database to destroying it', async () => {
  const db = remoteOfUser();
  assert.equal((await db.info()).doc_count, 0);
  const { rev } = await db.put({ _id: 'a', v: 1 });
  assert.equal((await db.get('a'))._rev, rev);
  await db.bulkDocs([{ _id: 'b' }, { _id: 'c' }]);
  assert.equal((await db.allDocs()).total_rows, 3);
  assert.equal((await db.changes({ since: 0 })).results.length, 3);
  await db.destroy();
});

test('PouchDB with credentials beside the URL, and a database that others create', async () => {
  const name = freshName('remote');
  const auth = { username: user.name, password: user.password };
  const db = new PouchDB(`${serverUrl}/${name}`, { auth, skip_setup: true });
  const absent = { status: 404, reason: 'Database does not exist.' };
  await assert.rejects(db.put({ _id: 'a' }), absent);
  await Nano(serverUrlOfUser).db.create(name);
  await db.put({ _id: 'a' });
  assert.equal((await db.info()).doc_count, 1);
  await db.destroy();
});

test('PouchDB keeps two databases in step, with a string of 5 MB', async (t) => {
  const here = local();
  const there = remoteOfUser();
  const sync = here.sync(there, { live: true, retry: true });
  t.after(() => sync.cancel());
  sync.on('denied', assert.fail);
  await there.put({ _id: 'from-there', data: FIVE_MEGABYTES });
  assert.equal((await arrived(here, 'from-there')).data, FIVE_MEGABYTES);
  await here.put({ _id: 'from-here', data: FIVE_MEGABYTES });
  assert.equal((await arrived(there, 'from-here')).data, FIVE_MEGABYTES);
  await cancelled(sync);
  assert.deepEqual(await revisions(here), await revisions(there));
  await Promise.all([here.destroy(), there.destroy()]);
});

test('nano with credentials in the URL', async () => {
  const nano = Nano(serverUrlOfUser);
  const name = freshName('nano');
  await nano.db.create(name);
  const db = nano.use(name);
  await db.insert({ v: 1 }, 'a');
  assert.equal((await db.get('a')).v, 1);
  await nano.db.destroy(name);
});

test('nano logs in and goes on with a cookie', async () => {
  const nano = Nano(serverUrl);
  const { ok, roles } = await nano.auth(user.name, user.password);
  assert.equal(ok, true);
  assert.deepEqual(roles, ['_admin']);
  assert.deepEqual((await nano.session()).userCtx.roles, ['_admin']);
  const name = freshName('nano');
  await nano.db.create(name);
  await nano.db.destroy(name);
});

test('the Cloudant SDK opens a session of its own accord', async () => {
  const service = CloudantV1.newInstance({
    authenticator: new CouchdbSessionAuthenticator({
      username: user.name,
      password: user.password,
    }),
  });
  service.setServiceUrl(serverUrl);
  const db = freshName('cloudant');
  const result = async (call) => (await call).result;

  assert.equal((await result(service.getSessionInformation())).ok, true);
  assert.deepEqual(await result(service.putDatabase({ db })), { ok: true });
  const { rev } = await result(service.putDocument({ db, docId: 'a', document: { v: 1 } }));
  assert.equal((await result(service.getDocument({ db, docId: 'a' })))._rev, rev);
  const bulkDocs = { docs: [{ _id: 'b', v: 2 }, { _id: 'a', v: 3 }] };
  const rows = await result(service.postBulkDocs({ db, bulkDocs }));
  assert.deepEqual(rows.map((row) => row.error ?? row.id), ['b', 'conflict']);
  const all = await result(service.postAllDocs({ db, startKey: 'a\0', includeDocs: true }));
  assert.deepEqual(all.rows.map((row) => row.doc.v), [2]);
  const changes = await result(service.postChanges({ db, docIds: ['b'], filter: '_doc_ids' }));
  assert.deepEqual(changes.results.map((row) => row.id), ['b']);
  const got = await result(service.postBulkGet({ db, docs: [{ id: 'a', rev }] }));
  assert.equal(got.results[0].docs[0].ok.v, 1);
  await assert.rejects(result(service.getDocument({ db, docId: 'absent' })), { status: 404 });
  assert.deepEqual(await result(service.deleteDatabase({ db })), { ok: true });
});
