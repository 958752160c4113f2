import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import couchbackup from '@cloudant/couchbackup';
import Nano from 'nano';
import { local, remote } from './pouch.mjs';
import { freshName, serverUrl } from './server.mjs';

const text = Buffer.from('lorem ipsum dolor '.repeat(200));
const bytes = randomBytes(500_000);
const DOCUMENTS = 2_000;
const TOGETHER = 1_000;

function md5(buffer) {
  return `md5-${createHash('md5').update(buffer).digest('base64')}`;
}

/** Puts documents with attachments into a database of PouchDB. */
async function fill(db) {
  const first = await db.putAttachment('a', 'dir/b.bin', bytes, 'application/octet-stream');
  await db.putAttachment('a', 't.txt', first.rev, text, 'text/plain');
  await db.put({ ...(await db.get('a')), v: 1 });
  await db.put({
    _id: 'inline',
    _attachments: { e: { content_type: 'text/plain', data: '' }, s: { data: 'aGk=', content_type: 'image/x' } },
  });
  const gone = await db.putAttachment('removed', 'x', Buffer.from('x'), 'text/plain');
  await db.removeAttachment('removed', 'x', gone.rev);
}

async function assertFilled(db) {
  const a = await db.get('a');
  assert.equal(a.v, 1);
  assert.deepEqual(Object.keys(a._attachments).sort(), ['dir/b.bin', 't.txt']);
  assert.equal(a._attachments['dir/b.bin'].digest, md5(bytes));
  assert.equal(a._attachments['t.txt'].length, text.length);
  assert.deepEqual(Buffer.from(await db.getAttachment('a', 'dir/b.bin')), bytes);
  assert.deepEqual(Buffer.from(await db.getAttachment('a', 't.txt')), text);
  assert.equal((await db.getAttachment('inline', 'e')).length, 0);
  assert.equal((await db.getAttachment('inline', 's')).toString(), 'hi');
  assert.equal((await db.get('removed'))._attachments, undefined);
}

async function positions(db) {
  const { _attachments: all } = await db.get('a');
  return ['dir/b.bin', 't.txt'].map((name) => all[name].revpos);
}

test('PouchDB puts, gets and removes attachments on the server', async () => {
  const db = remote();
  await fill(db);
  await assertFilled(db);
  assert.deepEqual(await positions(db), [1, 2]);
  await assert.rejects(db.getAttachment('removed', 'x'), { status: 404 });
  const whole = await db.get('a', { attachments: true });
  assert.equal(whole._attachments['t.txt'].data, text.toString('base64'));
});

test('PouchDB replicates attachments to the server and back', async () => {
  const [here, there, elsewhere] = [local(), remote(), local()];
  await fill(here);
  assert.equal((await here.replicate.to(there)).ok, true);
  await assertFilled(there);
  assert.deepEqual(await positions(there), await positions(here));
  assert.equal((await there.replicate.to(elsewhere)).ok, true);
  await assertFilled(elsewhere);

  await elsewhere.put({ ...(await elsewhere.get('a')), v: 2 });
  await here.putAttachment('a', 'new', (await here.get('a'))._rev, Buffer.from('n'), 'text/plain');
  await elsewhere.sync(there);
  await here.sync(there);
  await elsewhere.sync(there);
  const winner = await there.get('a', { conflicts: true });
  assert.equal(winner._conflicts.length, 1);
  for (const db of [here, elsewhere]) {
    const same = await db.get('a', { conflicts: true });
    assert.deepEqual([same._rev, same._conflicts], [winner._rev, winner._conflicts]);
    assert.deepEqual(Buffer.from(await db.getAttachment('a', 'dir/b.bin')), bytes);
  }
});

test('nano inserts, gets and destroys attachments', async () => {
  const nano = Nano(serverUrl);
  const name = freshName('nano');
  await nano.db.create(name);
  const db = nano.use(name);
  const { rev } = await db.attachment.insert('d', 'f.bin', bytes, 'image/x');
  assert.deepEqual(await db.attachment.get('d', 'f.bin'), bytes);
  const second = await db.attachment.destroy('d', 'f.bin', { rev });
  assert.equal(second.ok, true);
  await assert.rejects(db.attachment.get('d', 'f.bin'), { statusCode: 404 });

  const parts = [
    { name: 'one', data: bytes, content_type: 'image/x' },
    { name: 'two', data: 'second', content_type: 'text/plain' },
  ];
  await db.multipart.insert({ v: 1 }, parts, 'm');
  assert.deepEqual(await db.attachment.get('m', 'one'), bytes);
  assert.equal((await db.attachment.get('m', 'two')).toString(), 'second');
});

/** Adds documents, one in a hundred of which has an attachment; some of these are the same. */
async function addMany(db) {
  for (let from = 0; from < DOCUMENTS; from += TOGETHER) {
    const docs = Array.from({ length: TOGETHER }, (_, i) => ({ _id: `many-${from + i}`, v: from + i }));
    for (const doc of docs.filter(({ v }) => v % 100 === 0)) {
      doc._attachments = { n: { content_type: 'text/plain', data: small(doc.v).toString('base64') } };
    }
    const answers = await db.bulkDocs(docs);
    assert.deepEqual(answers.filter((answer) => answer.error), []);
  }
}

function small(v) {
  return Buffer.from(`ü ${v % 3000} `.repeat(v / 10));
}

async function assertMany(db) {
  const { rows } = await db.allDocs({ startkey: 'many-', endkey: 'many-\ufff0', include_docs: true, attachments: true });
  assert.equal(rows.length, DOCUMENTS);
  for (const { doc } of rows) {
    assert.equal(doc._id, `many-${doc.v}`);
    const expected = doc.v % 100 === 0 ? small(doc.v).toString('base64') : undefined;
    assert.equal(doc._attachments?.n.data, expected);
  }
}

test('couchbackup takes documents with attachments and brings them back', async () => {
  const source = remote();
  await fill(source);
  await addMany(source);
  const folder = await mkdtemp(path.join(tmpdir(), 'lectus-attachments-'));
  const file = path.join(folder, 'backup');
  const options = { attachments: true, logfile: path.join(folder, 'log') };
  const run = (action, from, to) =>
    new Promise((resolve, reject) => {
      action(from, to, options, (error, data) => (error ? reject(error) : resolve(data)));
    });
  await run(couchbackup.backup, source.name, createWriteStream(file));
  const target = freshName('restored');
  await Nano(serverUrl).db.create(target);
  await run(couchbackup.restore, createReadStream(file), `${serverUrl}/${target}`);
  await assertFilled(remote(target));
  await assertMany(remote(target));
  await rm(folder, { recursive: true });
});
