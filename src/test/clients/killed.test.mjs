// PouchDB syncs through a server that is killed and started again. Whoever runs this file keeps the server's port in a
// file; the server is killed and restarted, at another port, whenever the file is removed.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { test } from 'node:test';
import { PouchDB, local, revisions } from './pouch.mjs';
import { freshName } from './server.mjs';

const portFile = process.env.LECTUS_PORT_FILE;
const KILLS = Number(process.env.LECTUS_KILLS);
const DOCUMENTS = 20 * KILLS;
const TOGETHER = 10;
const PAUSE = 200;

const pause = () =>
  new Promise((resolve) => {
    setTimeout(resolve, PAUSE);
  });

async function until(condition) {
  while (!(await condition())) {
    await pause();
  }
}

const url = (path) => `http://127.0.0.1:${readFileSync(portFile, 'utf8')}/${path}`;

/** The server's database, wherever the server listens; without one the answer is that of a proxy in front of it. */
function moving(name) {
  return new PouchDB(`http://proxy/${name}`, {
    skip_setup: true,
    fetch: async (address, options) => {
      try {
        return await PouchDB.fetch(String(address).replace('http://proxy/', url('')), options);
      } catch (down) {
        return new Response('{"error":"service_unavailable"}', { status: 503 });
      }
    },
  });
}

/** Some attachments are the same, others begin alike; the longest takes more than one transaction. */
function bytes(seed) {
  const start = createHash('sha256').update(String(seed % 7)).digest();
  return Buffer.alloc(seed % 10 === 0 ? 900_000 : (seed * 997) % 30_000, start);
}

/**
 * Every second document has the name of one on the other side: a conflict. Both have attachments of their own: of a
 * losing revision PouchDB 9 fetches what the winning one has under the name.
 */
async function write(db, side, from) {
  for (let i = from; i < from + TOGETHER; i++) {
    const name = i % 2 === 0 ? `both-${i}` : `${side}-${i}`;
    const file = { content_type: i % 3 === 0 ? 'text/plain' : 'image/x', data: bytes(i + side.length) };
    await db.put({ _id: name, side, _attachments: { [`dir/${side}`]: file, ü: { ...file, data: bytes(i) } } }).catch(taken);
  }
}

/** The document came from the other side before. */
function taken(error) {
  assert.equal(error.status, 409);
}

async function attachments(db, leaves) {
  const found = new Map();
  for (const [id, { leaves: revs }] of leaves) {
    for (const rev of revs) {
      const { _attachments: files } = await db.get(id, { rev, attachments: true });
      for (const [name, { data, digest, revpos, content_type: type }] of Object.entries(files)) {
        const hash = createHash('md5').update(Buffer.from(data, 'base64')).digest('base64');
        found.set(`${id} ${rev} ${name}`, { hash, revpos, type, whole: type !== 'image/x' || digest === `md5-${hash}` });
      }
    }
  }
  return found;
}

test('both sides have everything in the end, however often the server was killed', async () => {
  const name = freshName('killed');
  assert.equal((await fetch(url(name), { method: 'PUT' })).status, 201);
  const sides = { here: local(), elsewhere: local() };
  const failures = [];
  const syncs = Object.values(sides).map((side) =>
    side
      .sync(moving(name), { live: true, retry: true, batch_size: 10, back_off_function: () => PAUSE })
      .on('denied', (denied) => failures.push(denied))
      .on('error', (error) => failures.push(error)),
  );
  const there = moving(name);
  const arrived = async () => (await sides.elsewhere.allDocs({ startkey: 'here', endkey: 'here\ufff0' })).rows.length;
  for (let from = 0, kills = 0; from < DOCUMENTS; from += TOGETHER) {
    const before = await arrived();
    await Promise.all(Object.entries(sides).map(([side, db]) => write(db, side, from)));
    if (from >= (kills * DOCUMENTS) / KILLS) {
      await until(async () => (await arrived()) > before);
      rmSync(portFile);
      kills += 1;
      await write(sides.here, 'lonely', from);
      await until(() => existsSync(portFile));
    }
  }

  const known = await revisions(sides.here);
  assert.equal([...known.keys()].filter((id) => id.startsWith('here')).length, DOCUMENTS / 2);
  const same = async (db) => {
    try {
      assert.deepEqual(await revisions(db), await revisions(sides.here));
      return true;
    } catch (behind) {
      return false;
    }
  };
  await until(async () => (await same(there)) && (await same(sides.elsewhere)));
  syncs.forEach((sync) => sync.cancel());
  assert.deepEqual(failures, []);

  const leaves = await revisions(there);
  assert.ok([...leaves.values()].some(({ leaves: revs }) => revs.length > 1), 'no conflict');
  const expected = await attachments(sides.here, leaves);
  assert.ok([...expected.values()].every(({ whole }) => whole));
  for (const db of [there, sides.elsewhere]) {
    assert.deepEqual(await attachments(db, leaves), expected);
  }
});
