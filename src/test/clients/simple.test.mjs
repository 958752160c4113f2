// Two small clients, as their users call them: couchdb-promises, and node-couchdb on node-fetch.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import couchdbPromises from 'couchdb-promises';
import NodeCouchDb from 'node-couchdb';
import { freshName, serverUrl } from './server.mjs';

const { hostname, port } = new URL(serverUrl);

test('couchdb-promises', async () => {
  const couch = couchdbPromises({ baseUrl: serverUrl });
  const db = freshName('promises');
  assert.match((await couch.getInfo()).data.version, /^3\./);
  assert.equal((await couch.createDatabase(db)).status, 201);
  await assert.rejects(couch.createDatabase(db), { status: 412 });
  assert.ok((await couch.listDatabases()).data.includes(db));

  const { data: { rev } } = await couch.createDocument(db, { name: 'Alice' }, 'doc');
  assert.equal((await couch.getDocumentHead(db, 'doc')).headers.etag, `"${rev}"`);
  await assert.rejects(couch.createDocument(db, { name: 'Bob' }, 'doc'), { status: 409 });
  assert.equal((await couch.copyDocument(db, 'doc', 'copy')).status, 201);
  const rows = (await couch.createBulkDocuments(db, [{ name: 'Tick' }, { name: 'Trick' }])).data;
  assert.ok(rows.every(row => row.ok));
  assert.equal((await couch.getAllDocuments(db, { limit: 3 })).data.total_rows, 4);

  const added = await couch.addAttachment(db, 'doc', 'note.txt', rev, 'text/plain', 'my note');
  assert.equal(added.status, 201);
  assert.equal((await couch.getAttachmentHead(db, 'doc', 'note.txt')).headers['content-type'], 'text/plain');
  await couch.createIndex(db, { index: { fields: ['name'] }, name: 'by-name' });
  const { data: { docs } } = await couch.findDocuments(db, { selector: { name: { $gte: 'T' } } });
  assert.deepEqual(docs.map(doc => doc.name).sort(), ['Tick', 'Trick']);
  assert.equal((await couch.deleteDocument(db, 'doc', added.data.rev)).status, 200);
  assert.equal((await couch.deleteDatabase(db)).data.ok, true);
});

test('node-couchdb', async () => {
  const couch = new NodeCouchDb({ host: hostname, port, protocol: 'http' });
  const db = freshName('node');
  await couch.createDatabase(db);
  await assert.rejects(couch.createDatabase(db), { code: 'EDBEXISTS' });
  assert.ok((await couch.listDatabases()).includes(db));
  assert.equal((await couch.uniqid(2)).length, 2);

  const first = await couch.insert(db, { _id: 'doc', field: ['sample', 'data', true] });
  await assert.rejects(couch.insert(db, { _id: 'doc' }), { code: 'EDOCCONFLICT' });
  const next = await couch.update(db, { _id: 'doc', _rev: first.data.rev, field: 1 });
  assert.deepEqual((await couch.get(db, 'doc')).data, { _id: 'doc', _rev: next.data.rev, field: 1 });
  await assert.rejects(couch.get(db, 'absent'), { code: 'EDOCMISSING' });
  // It calls every attachment "attachment", and makes JSON of it.
  const noted = await couch.insertAttachment(db, 'doc', 'note', 'my note', next.data.rev);
  const found = await couch.mango(db, { selector: { field: { $gte: 1 } } });
  assert.equal(found.data.docs[0]._attachments.attachment.length, 9);
  await couch.del(db, 'doc', noted.data.rev);
  await couch.dropDatabase(db);
});
