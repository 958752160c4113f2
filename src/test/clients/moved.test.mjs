// PouchDB syncs with a database that moves to another server, by the URL of the former one. Whoever runs this file moves
// it when the document `move` has come, and writes `moved` at the new place.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrived, cancelled, local, PouchDB, revisions } from './pouch.mjs';
import { serverUrl } from './server.mjs';

const BEFORE = 30;

test('PouchDB goes on syncing with a database that moves', async () => {
  const here = local();
  const there = new PouchDB(`${serverUrl}/synced`, { skip_setup: true });
  const seen = { push: [], pull: [] };
  const sync = here.sync(there, { live: true, retry: true, back_off_function: () => 50 });
  sync.on('change', ({ direction, change }) => {
    seen[direction].push(...change.docs.map((doc) => doc._id));
  });

  const mine = Array.from({ length: BEFORE }, (_, i) => `mine-${i}`);
  await here.bulkDocs(mine.map((_id) => ({ _id })));
  await here.put({ _id: 'move' });
  await arrived(here, 'moved');
  await here.put({ _id: 'later' });
  await arrived(there, 'later');
  await cancelled(sync);

  assert.deepEqual(seen.push.sort(), [...mine, 'later', 'move'].sort());
  assert.deepEqual(seen.pull, ['moved']);
  assert.deepEqual(await revisions(here), await revisions(there));
  const again = await here.replicate.from(there);
  assert.equal(again.docs_read, 0);
  await here.destroy();
});
