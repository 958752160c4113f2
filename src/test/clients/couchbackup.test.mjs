// couchbackup takes databases to text files and back.
import assert from 'node:assert/strict';
import { Readable, Writable } from 'node:stream';
import { test } from 'node:test';
import { promisify } from 'node:util';
import couchbackup from '@cloudant/couchbackup';
import { remote, revisions } from './pouch.mjs';
import { serverUrlOfUser } from './server.mjs';

const backup = promisify(couchbackup.backup);
const restore = promisify(couchbackup.restore);
const DOCUMENTS = 1_000;

function url(db) {
  return `${serverUrlOfUser}/${new URL(db.name).pathname.slice(1)}`;
}

async function text(db, options) {
  const parts = [];
  const target = new Writable({
    write(part, encoding, done) {
      parts.push(part);
      done();
    },
  });
  await backup(url(db), target, options);
  return Buffer.concat(parts).toString();
}

/** Another database with what the text says. */
async function restored(backupText) {
  const db = remote();
  await db.info();
  const { total } = await restore(Readable.from([backupText]), url(db), { bufferSize: 200 });
  return { db, total };
}

async function written() {
  const db = remote();
  const docs = Array.from({ length: DOCUMENTS }, (_, i) => ({ _id: `doc-${i}`, i, text: `ü ${i}` }));
  const answers = await db.bulkDocs(docs);
  assert.deepEqual(answers.filter((answer) => answer.error), []);
  return db;
}

const winners = async (db) =>
  (await db.allDocs({ include_docs: true })).rows.map(({ doc: { _rev, ...members } }) => members);

test('a full backup brings back documents, their conflicts and their tombstones', async () => {
  const db = await written();
  await db.remove(await db.get('doc-1'));
  await db.put({ ...(await db.get('doc-2')), v: 2 });
  await db.put({ _id: '_design/app', views: {} });
  const leaf = (hash) => ({ _id: 'torn', _rev: `2-${hash}`, _revisions: { start: 2, ids: [hash, 'a'] } });
  await db.bulkDocs([leaf('b'), leaf('c'), { ...leaf('d'), _deleted: true }], { new_edits: false });

  const copy = await restored(await text(db, { bufferSize: 200 }));

  assert.equal(copy.total, DOCUMENTS + 4);
  assert.deepEqual(await revisions(copy.db), await revisions(db));
  assert.deepEqual(await winners(copy.db), await winners(db));
  await Promise.all([db.destroy(), copy.db.destroy()]);
});

test('a shallow backup brings back the winners', async () => {
  const db = await written();
  const copy = await restored(await text(db, { mode: 'shallow', bufferSize: 200 }));

  assert.equal(copy.total, DOCUMENTS);
  assert.deepEqual(await winners(copy.db), await winners(db));
  await Promise.all([db.destroy(), copy.db.destroy()]);
});

test('nothing is restored into a database that has documents', async () => {
  const db = await written();
  await assert.rejects(restore(Readable.from(['[{"_id":"a"}]\n']), url(db), {}), {
    name: 'DatabaseNotEmpty',
  });
  await db.destroy();
});
