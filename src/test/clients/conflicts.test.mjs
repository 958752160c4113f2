// Conflicts as applications on PouchDB handle them. The server keeps no body of a replaced revision, so
// whoever merges three ways has to find out that the common base is missing, and go on without it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { local, remote, revisions } from './pouch.mjs';

/** A document that was edited here and there since both had it. */
async function diverged() {
  const here = local();
  const there = remote();
  await here.put({ _id: 'note', text: 'base' });
  await here.sync(there);
  const base = await here.get('note');
  await here.put({ ...base, text: 'base, here' });
  await there.put({ ...base, text: 'base, there' });
  await here.sync(there);
  return { here, there, base };
}

async function end({ here, there }) {
  await Promise.all([here.destroy(), there.destroy()]);
}

/**
 * The newest revision of two leaves' histories that both have and that can still be read, as Obsidian
 * LiveSync looks for the base of a three-way merge; undefined if there is none.
 */
async function readableBase(db, id, one, other) {
  const history = async (rev) => {
    const [{ ok }] = await db.get(id, { open_revs: [rev], revs: true });
    const { start, ids } = ok._revisions;
    return ids.map((hash, i) => `${start - i}-${hash}`);
  };
  const known = new Set(await history(other));
  for (const rev of (await history(one)).filter((candidate) => known.has(candidate))) {
    try {
      return await db.get(id, { rev });
    } catch (missing) {
      assert.equal(missing.status, 404);
      assert.equal(missing.reason, 'missing');
    }
  }
  return undefined;
}

test('both sides pick the same winner and can read both leaves', async () => {
  const { here, there } = await diverged();
  const mine = await here.get('note', { conflicts: true });
  const theirs = await there.get('note', { conflicts: true });
  assert.deepEqual(theirs, mine);
  assert.equal(theirs._conflicts.length, 1);
  const loser = await there.get('note', { rev: theirs._conflicts[0] });
  assert.deepEqual([theirs.text, loser.text].sort(), ['base, here', 'base, there']);
  assert.deepEqual(loser, await here.get('note', { rev: mine._conflicts[0] }));
  await end({ here, there });
});

test('the common base is told as missing, and is', async () => {
  const { here, there, base } = await diverged();
  const read = await there.get('note', { revs_info: true, conflicts: true });
  assert.deepEqual(
    read._revs_info.map(({ rev, status }) => [rev, status]),
    [
      [read._rev, 'available'],
      [base._rev, 'missing'],
    ],
  );
  for (const { rev, status } of read._revs_info) {
    const readable = await there.get('note', { rev }).then(
      () => true,
      () => false,
    );
    assert.equal(readable, status === 'available', rev);
  }
  const [answer] = (await there.bulkGet({ docs: [{ id: 'note', rev: base._rev }] })).results;
  assert.equal(answer.docs[0].error.error, 'not_found');
  const [open] = await there.get('note', { open_revs: [base._rev] });
  assert.equal(open.missing, base._rev);
  assert.equal(open.ok, undefined);
  assert.equal(await readableBase(there, 'note', read._rev, read._conflicts[0]), undefined);
  await end({ here, there });
});

test('a merge without the base resolves the conflict everywhere', async () => {
  const { here, there } = await diverged();
  const winner = await there.get('note', { conflicts: true });
  const [rev] = winner._conflicts;
  const loser = await there.get('note', { rev });
  assert.equal(await readableBase(there, 'note', winner._rev, rev), undefined);
  const answers = await there.bulkDocs([
    { _id: 'note', _rev: winner._rev, text: [winner.text, loser.text].sort().join(' | ') },
    { _id: 'note', _rev: rev, _deleted: true },
  ]);
  assert.ok(answers.every((answer) => answer.ok));

  await here.sync(there);
  for (const db of [here, there]) {
    const merged = await db.get('note', { conflicts: true });
    assert.equal(merged.text, 'base, here | base, there');
    assert.equal(merged._conflicts, undefined);
  }
  assert.deepEqual(await revisions(here), await revisions(there));
  await end({ here, there });
});

test('a merge here, where the base is kept, arrives there', async () => {
  const { here, there, base } = await diverged();
  const winner = await here.get('note', { conflicts: true });
  const [rev] = winner._conflicts;
  assert.equal((await readableBase(here, 'note', winner._rev, rev)).text, base.text);
  await here.put({ ...winner, _conflicts: undefined, text: 'base, here, there' });
  await here.remove('note', rev);

  await here.sync(there);
  const merged = await there.get('note', { conflicts: true });
  assert.equal(merged.text, 'base, here, there');
  assert.equal(merged._conflicts, undefined);
  assert.deepEqual(await revisions(here), await revisions(there));
  await end({ here, there });
});

test('a third database gets what was resolved, and every leaf', async () => {
  const { here, there } = await diverged();
  const winner = await there.get('note', { conflicts: true });
  await there.remove('note', winner._conflicts[0]);
  for (let edit = 0; edit < 3; edit += 1) {
    await there.put({ ...(await there.get('note')), edit });
  }
  const third = local();
  const pulled = await third.replicate.from(there);
  assert.equal(pulled.doc_write_failures, 0);
  assert.deepEqual(await revisions(third), await revisions(there));
  assert.equal((await third.get('note')).edit, 2);
  await third.destroy();
  await end({ here, there });
});
