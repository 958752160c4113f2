// PouchDB goes on with a database that came back from a backup, under its own name.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PouchDB, arrived, cancelled, local, revisions } from './pouch.mjs';
import { freshName, serverUrl } from './server.mjs';

const DOCUMENTS = 30;

async function asked(method, path, body) {
  const answer = await fetch(`${serverUrl}/${path}`, { method, body });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
  return Buffer.from(await answer.arrayBuffer());
}

const on = (name) => new PouchDB(`${serverUrl}/${name}`, { skip_setup: true });

async function until(condition) {
  while (!(await condition())) {
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
}

async function same(one, other) {
  try {
    assert.deepEqual(await revisions(one), await revisions(other));
    return true;
  } catch (behind) {
    return false;
  }
}

const documents = (side, from) =>
  Array.from({ length: DOCUMENTS }, (_, i) => ({
    _id: `${side}-${from + i}`,
    _attachments: i % 5 === 0 ? { a: { content_type: 'text/plain', data: Buffer.from(`${side} ${i}`).toString('base64') } } : {},
  }));

/** What both have, with one document that both have changed. */
async function begun(name, side) {
  await asked('PUT', name);
  const there = on(name);
  await there.bulkDocs(documents('there', 0));
  await side.bulkDocs(documents('here', 0));
  await side.sync(there);
  const torn = await side.get('here-1');
  await there.put({ ...torn, by: 'there' });
  await side.put({ ...torn, by: 'here' });
  await side.sync(there);
  return there;
}

/** Each side changes, adds and deletes. */
async function goOn(side, there, from) {
  await there.bulkDocs(documents('there', from));
  await side.bulkDocs(documents('here', from));
  await side.remove(await side.get(`here-${from - 2}`));
  await there.put({ ...(await there.get('there-3')), later: from });
}

async function restored(name, image) {
  await asked('DELETE', name);
  await asked('POST', `${name}/_image`, image);
}

test('one that syncs now and then loses nothing and doubles nothing', async () => {
  const name = freshName('restored');
  const side = local();
  const there = await begun(name, side);
  const image = await asked('GET', `${name}/_image`);
  await goOn(side, there, DOCUMENTS);
  await side.sync(there);
  const before = await revisions(side);

  await restored(name, image);
  assert.ok(!(await same(side, there)), 'nothing was lost by the restore');
  await there.put({ _id: 'after' });
  const { push, pull } = await side.sync(there);

  assert.deepEqual([push.doc_write_failures, pull.doc_write_failures], [0, 0]);
  assert.equal(pull.docs_written, 1);
  assert.ok(await same(side, there));
  const after = await revisions(side);
  after.delete('after');
  assert.deepEqual(after, before);
});

test('one that syncs all the time notices, and sends again what it has', { timeout: 60_000 }, async (t) => {
  const name = freshName('restored');
  const side = local();
  const there = await begun(name, side);
  const sync = side.sync(there, { live: true, retry: true, back_off_function: () => 20 });
  t.after(() => cancelled(sync));
  const denied = [];
  sync.on('denied', (it) => denied.push(it));
  await goOn(side, there, DOCUMENTS);
  await until(() => same(side, there));
  // Its session is in both checkpoints by now.
  await until(async () => (await asked('GET', `${name}/_local_docs?include_docs=true`)).toString().split('"history"').length > 2);
  const image = await asked('GET', `${name}/_image`);
  await goOn(side, there, 2 * DOCUMENTS);
  await until(() => same(side, there));
  const before = await revisions(side);

  await restored(name, image);
  await side.put({ _id: 'after-here' });
  await there.put({ _id: 'after-there' });
  await arrived(side, 'after-there');
  await until(() => same(side, there));

  const after = await revisions(side);
  after.delete('after-here');
  after.delete('after-there');
  assert.deepEqual(after, before);
  assert.deepEqual(denied, []);
});
