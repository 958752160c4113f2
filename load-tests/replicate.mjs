// Pulls a whole database with PouchDB: node replicate.mjs URL. Prints documents a second. It uses the
// modules of src/test/clients.
import { createRequire } from 'node:module';

const require = createRequire(new URL('../src/test/clients/package.json', import.meta.url));
const PouchDB = require('pouchdb-core')
  .plugin(require('pouchdb-adapter-http'))
  .plugin(require('pouchdb-adapter-memory'))
  .plugin(require('pouchdb-replication'));

const here = new PouchDB('here', { adapter: 'memory' });
const start = process.hrtime.bigint();
const result = await here.replicate.from(process.argv[2], { batch_size: 1000, batches_limit: 4 });
const seconds = Number(process.hrtime.bigint() - start) / 1e9;
console.log(Math.round(result.docs_written / seconds));
