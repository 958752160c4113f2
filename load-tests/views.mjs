// Views of Lectus, and of CouchDB if its URL is given, too: see views.sh.
import { execFile } from 'node:child_process';
import http from 'node:http';
import { promisify } from 'node:util';

const documents = Number(process.env.DOCUMENTS ?? 1_000_000);
const shards = (process.env.SHARDS ?? '1 4 16').split(' ');
const seconds = Number(process.env.SECONDS_EACH ?? 10);
const reads = Number(process.env.READS ?? 500);
const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
const servers = process.argv.slice(2, 4).map((text) => new URL(text));
const isCouch = (server) => server !== servers[0];

function ask(server, method, path, body) {
  return new Promise((resolve, reject) => {
    const data = body === undefined ? undefined : JSON.stringify(body);
    const headers = data === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(data) };
    const auth = server.username ? `${server.username}:${server.password}` : undefined;
    const request = http.request(server.origin + path, { method, agent, headers, auth }, (answer) => {
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        if (answer.statusCode < 300) resolve(text);
        else reject(Object.assign(new Error(`${method} ${path}: ${answer.statusCode} ${text}`), { status: answer.statusCode }));
      });
    });
    request.on('error', reject);
    request.end(data);
  });
}

const document = (i) => ({
  _id: `d${String((i * 7919) % documents).padStart(9, '0')}`,
  type: `type ${i % 100}`,
  number: i,
  text: 'x'.repeat(100),
});

async function insert(server, database) {
  let next = 0;
  async function writer() {
    while (next < documents) {
      const from = next;
      next += 1000;
      const docs = [];
      for (let i = from; i < Math.min(documents, from + 1000); i++) docs.push(document(i));
      await ask(server, 'POST', `${database}/_bulk_docs`, { docs });
    }
  }
  await Promise.all(Array.from({ length: 4 }, writer));
}

const design = { views: { types: { map: 'function (doc) { emit(doc.type, 1); }', reduce: '_count' } } };
const view = (database) => `${database}/_design/d/_view/types`;

// Seconds until a new view has all documents.
async function build(server, database) {
  const began = performance.now();
  await ask(server, 'PUT', `${database}/_design/d`, design);
  await built(server, database);
  return (performance.now() - began) / 1000;
}

async function built(server, database) {
  for (;;) {
    try {
      return await ask(server, 'GET', view(database));
    } catch (failure) {
      // It takes longer than a request may.
      if (failure.status !== 503 && failure.status !== 500) throw failure;
    }
  }
}

async function written(server, database) {
  const url = new URL(server.origin + database);
  const script = 'load-tests/wrk/put.lua';
  const password = server.username ? ['-H', `Authorization: Basic ${btoa(`${server.username}:${server.password}`)}`] : [];
  const { stdout } = await promisify(execFile)('wrk', ['-t1', '-c16', `-d${seconds}s`, ...password, '-s', script, url.href]);
  if (/Non-2xx/.test(stdout)) throw new Error(stdout);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)[1]);
}

async function conflicts(server) {
  const text = isCouch(server) ? '' : await ask(server, 'GET', '/_node/_local/_prometheus');
  return Number(/^lectus_transaction_conflicts\S* ([\d.e+]+)$/m.exec(text)?.[1] ?? NaN);
}

async function millis(count, before, query) {
  const all = [];
  for (let i = 0; i < count; i++) {
    await before(i);
    const at = performance.now();
    await query(i);
    if (i >= count / 5) all.push(performance.now() - at);
  }
  all.sort((a, b) => a - b);
  return `${all[Math.floor(all.length / 2)].toFixed(2)} / ${all[Math.floor(all.length * 0.99)].toFixed(2)}`;
}

const row = (...cells) => console.log(`| ${cells.join(' | ')} |`);
const names = ['Lectus', 'CouchDB'].slice(0, servers.length);
row('measured', ...names);
row('---', ...names.map(() => '---'));

// One row, whose cells are measured one after the other.
async function compared(what, measure) {
  const cells = [];
  for (const server of servers) cells.push(await measure(server));
  row(what, ...cells);
}

const create = (server, name, count) =>
  ask(server, 'PUT', `/${name}?${isCouch(server) ? 'q' : 'changes_shards'}=${count}`);
// The functions' processes and the JVM's compiler are warm from here on.
for (const server of servers) {
  await create(server, 'views-warm', 1);
  await insert(server, '/views-warm').then(() => build(server, '/views-warm'));
  await ask(server, 'DELETE', '/views-warm');
}
for (const count of shards) {
  await compared(`a build over ${documents} documents in ${count} shards, documents/s`, async (server) => {
    await create(server, `views-${count}`, count);
    await insert(server, `/views-${count}`);
    const before = await conflicts(server);
    const took = await build(server, `/views-${count}`);
    const met = (await conflicts(server)) - before;
    return `${Math.round(documents / took)}${Number.isNaN(met) ? '' : `, ${met} conflicts`}`;
  });
}

const database = `/views-${shards[0]}`;
await compared('`update=true` right after a write, p50 / p99, ms', (server) =>
  millis(
    reads,
    (i) => ask(server, 'PUT', `${database}/new-${i}`, document(i)),
    () => ask(server, 'GET', `${view(database)}?key="type 1"`),
  ),
);
await compared('`group_level` with 100 groups, p50 / p99, ms', (server) =>
  millis(reads, () => {}, async () => {
    const { rows } = JSON.parse(await ask(server, 'GET', `${view(database)}?group_level=1`));
    if (rows.length !== 100) throw new Error(`${rows.length} groups`);
  }),
);
await compared('`skip` of half the rows, p50 / p99, ms', (server) =>
  millis(isCouch(server) ? 5 : reads, () => {}, () => ask(server, 'GET', `${view(database)}?reduce=false&limit=1&skip=${documents / 2}`)),
);
await compared('20 rows of a key, p50 / p99, ms', (server) =>
  millis(reads, () => {}, (i) => ask(server, 'GET', `${view(database)}?reduce=false&limit=20&key="type ${i % 100}"`)),
);
for (const server of servers) {
  for (const count of shards) await ask(server, 'DELETE', `/views-${count}`);
}
await compared('PUT/s of 16 connections: alone / beside a build', async (server) => {
  for (const name of ['views-alone', 'views-beside']) await create(server, name, 1);
  await insert(server, '/views-beside');
  await written(server, '/views-alone');
  const alone = await written(server, '/views-alone');
  await ask(server, 'PUT', '/views-beside/_design/d', design);
  const building = built(server, '/views-beside');
  const beside = await written(server, '/views-beside');
  await building;
  for (const name of ['views-alone', 'views-beside']) await ask(server, 'DELETE', `/${name}`);
  return `${Math.round(alone)} / ${Math.round(beside)}, ${Math.round((100 * beside) / alone)} %`;
});
agent.destroy();
