// node load-tests/layout.mjs URL PID [--quick | LEAVES]: loads two databases, one of each layout, and measures both in turns.
// Called by layout.sh.
import { readFileSync, readdirSync } from 'node:fs';
import http from 'node:http';

const [url, pid, mode] = process.argv.slice(2);
const scale = mode === '--quick' ? 5 : 1;
const TICK_MICROS = 10_000;
const LAYOUTS = ['rfc004', 'inline'];
const ROUNDS = 5;
// What the CPU for a document of 25 leaves has to be divided by at least.
const BARS = {
  bulk: 2, '_all_docs': 2.3, '_changes': 2.3, 'PUT, 64 connections': 1.4, 'PUT, 256 connections': 1.4,
  'GET, read once': 1.4,
};
// Of everything else: at most a tenth slower.
const LEAST = 0.9;

const agent = new http.Agent({ keepAlive: true, maxSockets: 256 });
function ask(method, target, body) {
  return new Promise((done, failed) => {
    const request = http.request(url + target, { method, agent, headers: { 'Content-Type': 'application/json' } });
    request.on('response', (answer) => {
      const parts = [];
      answer.on('data', (part) => parts.push(part));
      answer.on('end', () => {
        const text = Buffer.concat(parts).toString();
        answer.statusCode < 300 ? done(text) : failed(new Error(`${method} ${target}: ${text.slice(0, 200)}`));
      });
      answer.on('error', failed);
    });
    request.on('error', failed);
    request.end(body);
  });
}

async function each(count, connections, one) {
  let next = 0;
  const line = async () => { while (next < count) await one(next++); };
  await Promise.all(Array.from({ length: connections }, line));
}

function ticks(stat) {
  const fields = readFileSync(stat, 'utf8').split(') ')[1].split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

// The JIT compiler, whose threads stay, works for all that is measured later.
const compilers = readdirSync(`/proc/${pid}/task`).map((task) => `/proc/${pid}/task/${task}`)
  .filter((task) => /^C[12] Compiler/.test(readFileSync(task + '/comm', 'utf8'))).map((task) => task + '/stat');

function cpuMicros() {
  const compiling = compilers.reduce((sum, stat) => sum + ticks(stat), 0);
  return (ticks(`/proc/${pid}/stat`) - compiling) * TICK_MICROS;
}

function document(leaves, i) {
  const body = { type: 'reading', n: i, ok: true, note: null };
  for (let leaf = 4; leaf < leaves; leaf++) body['m' + leaf] = leaf % 3 ? leaf * 1.25 : 'text ' + i;
  return body;
}

function writtenBytes() {
  return Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))[1]);
}

async function measured(count, work) {
  const cpu = cpuMicros(), bytes = writtenBytes(), begin = process.hrtime.bigint();
  await work();
  const seconds = Number(process.hrtime.bigint() - begin) / 1e9;
  // At least one tick, which is what the figure is exact to.
  const micros = Math.max(TICK_MICROS, cpuMicros() - cpu) / count;
  return { rate: count / seconds, micros, bytes: (writtenBytes() - bytes) / count };
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
let failures = 0;

function row(leaves, what, found) {
  const [rows, inline] = LAYOUTS.map((layout) => ({
    rate: median(found[layout].map((it) => it.rate)), micros: median(found[layout].map((it) => it.micros)),
    bytes: median(found[layout].map((it) => it.bytes)) }));
  const less = rows.micros / inline.micros;
  const bar = leaves === 25 ? BARS[what] ?? LEAST : LEAST;
  const isReached = less >= bar;
  failures += isReached ? 0 : 1;
  console.log(`| ${leaves} | ${what} | ${rows.rate.toFixed(0)} | ${inline.rate.toFixed(0)} | ${rows.micros.toFixed(1)}`
    + ` | ${inline.micros.toFixed(1)} | ${less.toFixed(2)}${isReached ? '' : ` (below ${bar})`}`
    + ` | ${rows.bytes.toFixed(0)} | ${inline.bytes.toFixed(0)} |`);
}

async function compared(leaves, what, count, work) {
  const found = { rfc004: [], inline: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const layout of round % 2 ? [...LAYOUTS].reverse() : LAYOUTS) {
      found[layout].push(await measured(count, () => work(`/${layout}-${leaves}`, round)));
    }
  }
  row(leaves, what, found);
}

async function compare(leaves, all) {
  const count = Math.max(100, Math.floor(all / scale));
  for (const layout of LAYOUTS) await ask('PUT', `/${layout}-${leaves}?layout=${layout}`);
  await compared(leaves, 'bulk', count, async (db, round) => {
    for (let from = 0; from < count; from += 500) {
      const docs = Array.from({ length: Math.min(500, count - from) },
        (_, i) => ({ _id: `b${round}-${from + i}`, ...document(leaves, from + i) }));
      await ask('POST', db + '/_bulk_docs', JSON.stringify({ docs }));
    }
  });
  const stored = ROUNDS * count;
  await compared(leaves, '_all_docs', stored, (db) => ask('GET', db + '/_all_docs?include_docs=true'));
  await compared(leaves, '_changes', stored, (db) => ask('GET', db + '/_changes?include_docs=true'));
  await compared(leaves, '_find without an index', stored, (db) =>
    ask('POST', db + '/_find', JSON.stringify({ selector: { n: { $lt: 0 } } })));
  // What was read once is not kept in memory; what was read twice is.
  await compared(leaves, 'GET, read once', count, (db, round) =>
    each(count, 16, (i) => ask('GET', `${db}/b${round}-${i}`)));
  await compared(leaves, 'GET, kept in memory', count, (db) => each(count, 16, (i) => ask('GET', `${db}/b0-${i % 50}`)));
  await compared(leaves, 'one member', count, (db, round) =>
    each(count, 16, (i) => ask('GET', `${db}/b${round}-${i}?fields=%5B%22m5%22%5D`)));
  for (const connections of [1, 64, 256]) {
    const puts = connections === 1 ? Math.floor(count / 5) : count;
    await compared(leaves, `PUT, ${connections} connection${connections > 1 ? 's' : ''}`, puts, (db, round) =>
      each(puts, connections, (i) =>
        ask('PUT', `${db}/p${connections}-${round}-${i}`, JSON.stringify(document(leaves, i)))));
  }
  const revisions = {};
  for (const layout of LAYOUTS) {
    const listed = JSON.parse(await ask('GET', `/${layout}-${leaves}/_all_docs?start_key="p64"&end_key="p64-9"`));
    for (const row of listed.rows) revisions[layout + row.id] = row.value.rev;
  }
  await compared(leaves, 'update, 64 connections', count, (db, round) => each(count, 64, (i) => {
    const id = `p64-${round}-${i}`, _rev = revisions[db.slice(1).split('-')[0] + id];
    return ask('PUT', `${db}/${id}`, JSON.stringify({ _rev, ...document(leaves, i + 1) }));
  }));
  await compared(leaves, 'building an index', stored, async (db, round) => {
    const index = { index: { fields: ['n', 'm5'] }, ddoc: 'i' + round, name: 'i' };
    await ask('POST', db + '/_index', JSON.stringify(index));
    while ((await ask('GET', db + '/_index')).includes('"building"')) await new Promise((go) => setTimeout(go, 50));
  });
  const bytes = [];
  for (const layout of LAYOUTS) {
    const info = JSON.parse(await ask('GET', `/${layout}-${leaves}`));
    bytes.push(info.sizes.active / info.doc_count);
  }
  console.log(`| ${leaves} | bytes of bodies | | | ${bytes[0].toFixed(0)} | ${bytes[1].toFixed(0)}`
    + ` | ${(bytes[0] / bytes[1]).toFixed(2)} | | |`);
}

console.log('| leaves | measured | rfc004, a second | inline | rfc004, CPU µs a document | inline | ÷'
  + ' | rfc004, bytes to disk a document | inline |');
console.log('|---|---|---|---|---|---|---|---|---|');
await compare(25, 3_000); // to warm the server
console.log('| | *the same, warm* | | | | | | | |');
failures = 0;
for (const layout of LAYOUTS) await ask('DELETE', `/${layout}-25`);
for (const [leaves, count] of [[25, 6_000], [9, 4_000], [200, 1_000], [2_000, 100]]) {
  if (!(Number(mode) > 0) || Number(mode) === leaves) await compare(leaves, count);
}
agent.destroy();
process.exit(mode !== '--quick' && failures > 0 ? 1 : 0);
