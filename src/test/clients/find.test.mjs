import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { CloudantV1, CouchdbSessionAuthenticator } from '@ibm-cloud/cloudant';
import Nano from 'nano';
import pouchFind from 'pouchdb-find';
import { local, PouchDB, remote } from './pouch.mjs';
import { freshName, serverUrl, user } from './server.mjs';

PouchDB.plugin(pouchFind);

const people = [
  { _id: 'ada', name: 'Ada', born: 1815, languages: ['en', 'fr'] },
  { _id: 'alan', name: 'Alan', born: 1912, languages: ['en'] },
  { _id: 'grace', name: 'Grace', born: 1906 },
  { _id: 'konrad', name: 'Konrad', born: 1910, languages: ['de'] },
  { _id: 'nobody' },
];
const name = freshName('find');
let db;

before(async () => {
  db = remote(name);
  await db.bulkDocs(people);
});

after(() => db.destroy());

const ids = (answer) => answer.docs.map((doc) => doc._id);

test('PouchDB makes an index once, and lists it', async () => {
  const index = { fields: ['born'], name: 'by-born', ddoc: 'people' };
  const made = await db.createIndex({ index });
  assert.deepEqual(made, { result: 'created', id: '_design/people', name: 'by-born' });
  assert.equal((await db.createIndex({ index })).result, 'exists');
  const { indexes } = await db.getIndexes();
  assert.deepEqual(indexes.map((each) => each.name), ['_all_docs', 'by-born']);
  assert.deepEqual(indexes[1].def.fields, [{ born: 'asc' }]);
});

test('PouchDB finds in the order of an index, a page after the other', async () => {
  const query = { selector: { born: { $gt: 1850 } }, sort: [{ born: 'desc' }], fields: ['_id', 'born'], limit: 2 };
  const first = await db.find(query);
  assert.deepEqual(first.docs, [{ _id: 'alan', born: 1912 }, { _id: 'konrad', born: 1910 }]);
  assert.equal(first.warning, undefined);
  const second = await db.find({ ...query, bookmark: first.bookmark });
  assert.deepEqual(ids(second), ['grace']);
});

test('PouchDB finds without an index, with a warning', async () => {
  const found = await db.find({ selector: { languages: { $elemMatch: { $eq: 'en' } }, name: { $regex: '^A' } } });
  assert.deepEqual(ids(found), ['ada', 'alan']);
  assert.match(found.warning, /No matching index found/);
  await assert.rejects(db.find({ selector: { name: 'Ada' }, sort: ['name'] }), { error: 'no_usable_index' });
  await assert.rejects(db.find({ selector: { name: { $no: 1 } } }), { status: 400, error: 'invalid_operator' });
});

test('PouchDB is told which index serves a query', async () => {
  const told = await db.explain({ selector: { born: 1906 }, use_index: ['people', 'by-born'] });
  assert.equal(told.index.name, 'by-born');
  assert.equal(told.index.ddoc, '_design/people');
  assert.deepEqual(told.selector, { born: { $eq: 1906 } });
  assert.equal(told.dbname, name);
});

test('nano', async () => {
  const nano = Nano(serverUrl).use(name);
  const made = await nano.createIndex({ index: { fields: ['name'] }, name: 'by-name', ddoc: 'names' });
  assert.equal(made.result, 'created');
  assert.deepEqual(ids(await nano.find({ selector: { name: { $beginsWith: 'A' } }, sort: ['name'] })), ['ada', 'alan']);
});

test("Cloudant's SDK", async () => {
  const authenticator = new CouchdbSessionAuthenticator({ username: user.name, password: user.password });
  const cloudant = CloudantV1.newInstance({ authenticator });
  const { protocol, host } = new URL(serverUrl);
  cloudant.setServiceUrl(`${protocol}//${host}`);
  const found = await cloudant.postFind({ db: name, selector: { born: { $lt: 1910 } }, executionStats: true });
  assert.deepEqual(ids(found.result), ['ada', 'grace']);
  assert.equal(found.result.execution_stats.results_returned, 2);
  const told = await cloudant.postExplain({ db: name, selector: { name: 'Ada' } });
  assert.equal(told.result.index.name, 'by-name');
  const { result } = await cloudant.getIndexesInformation({ db: name });
  assert.equal(result.total_rows, 3);
  assert.equal((await cloudant.deleteIndex({ db: name, ddoc: 'names', type: 'json', index: 'by-name' })).result.ok, true);
});

test('PouchDB deletes an index', async () => {
  const { indexes } = await db.getIndexes();
  assert.deepEqual(await db.deleteIndex(indexes[1]), { ok: true });
  assert.deepEqual((await db.getIndexes()).indexes.map((each) => each.name), ['_all_docs']);
});

test('an index on two fields and the order of members survive a replication either way', async () => {
  const numbers = [{ _id: 'k', b: 2, a: 1 }, { _id: 'l', b: 1, a: 2 }, { _id: 'm', b: 2, a: 0 }];
  const index = { fields: ['b', 'a'], name: 'ba', ddoc: 'ba' };
  const query = { selector: { b: { $gt: 0 }, a: { $gte: 0 } }, sort: ['b', 'a'], use_index: ['ba', 'ba'] };
  const members = (doc) => Object.keys(doc).filter((member) => !member.startsWith('_'));
  for (const [from, to] of [[remote(), local()], [local(), remote()]]) {
    await from.bulkDocs([...numbers, { _id: 'o', z: 1, y: { d: 2, c: 3 }, x: 'x'.repeat(20_000), w: [] }]);
    await from.createIndex({ index });
    await PouchDB.replicate(from, to);
    const design = await to.get('_design/ba');
    assert.deepEqual(Object.keys(design.views.ba.map.fields), ['b', 'a']);
    const found = await to.find(query);
    assert.deepEqual(ids(found), ['l', 'm', 'k']);
    assert.equal(found.warning, undefined);
    const ordered = await to.get('o');
    assert.deepEqual(members(ordered), ['z', 'y', 'x', 'w']);
    assert.deepEqual(Object.keys(ordered.y), ['d', 'c']);
    await from.destroy();
    await to.destroy();
  }
});
