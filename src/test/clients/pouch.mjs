import assert from 'node:assert/strict';
import PouchCore from 'pouchdb-core';
import httpAdapter from 'pouchdb-adapter-http';
import memoryAdapter from 'pouchdb-adapter-memory';
import replication from 'pouchdb-replication';
import { freshName, serverUrl, serverUrlOfUser } from './server.mjs';

export const PouchDB = PouchCore.plugin(httpAdapter).plugin(memoryAdapter).plugin(replication);

/** A database inside this process. */
export function local() {
  return new PouchDB(freshName('local'), { adapter: 'memory' });
}

/** A database on the server; PouchDB creates it. */
export function remote(name = freshName('remote')) {
  return new PouchDB(`${serverUrl}/${name}`);
}

/** The same for somebody whose name and password stand in the URL. */
export function remoteOfUser(name = freshName('remote')) {
  return new PouchDB(`${serverUrlOfUser}/${name}`);
}

/** The document, as soon as it is there. */
export async function arrived(db, id) {
  for (;;) {
    try {
      return await db.get(id);
    } catch (absent) {
      assert.equal(absent.status, 404);
      await new Promise((resolve) => {
        setTimeout(resolve, 10);
      });
    }
  }
}

/** Ends a live replication; resolves when it has. */
export function cancelled(sync) {
  return new Promise((resolve) => {
    sync.on('complete', resolve);
    sync.cancel();
  });
}

/** Every document's leaves, sorted, and its winner: what replication must make equal. */
export async function revisions(db) {
  const [leaves, winners] = await Promise.all([
    db.changes({ style: 'all_docs', since: 0 }),
    db.changes({ since: 0 }),
  ]);
  const result = new Map();
  for (const row of leaves.results) {
    result.set(row.id, { leaves: row.changes.map((change) => change.rev).sort() });
  }
  for (const row of winners.results) {
    result.get(row.id).winner = row.changes[0].rev;
    result.get(row.id).deleted = row.deleted === true;
  }
  return new Map([...result].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Resolves with the first `count` rows of a live feed. */
export function firstLiveChanges(db, count, options = {}) {
  return new Promise((resolve, reject) => {
    const rows = [];
    const feed = db.changes({ live: true, since: 'now', ...options });
    feed.on('change', (row) => {
      rows.push(row);
      if (rows.length === count) {
        feed.cancel();
      }
    });
    feed.on('complete', () => resolve(rows));
    feed.on('error', reject);
  });
}
