// Random views and queries, asked of Lectus and of CouchDB 3.5; prints each answer in which they differ. Needs Node.js 18+.
// Left out is what CouchDB does not answer as its documentation says: raw collation, inclusive_end, keys, and ids without
// keys in partitions, and every query of a view with a reduction that fails.
//
//   load-tests/compare-views.mjs LECTUS_URL COUCHDB_URL
//
// DEFINITIONS and QUERIES (of each) set how many there are, SEED what they are. Databases are removed afterwards.
import { isDeepStrictEqual } from 'node:util';

const servers = process.argv.slice(2, 4).map((text) => {
  const url = new URL(text);
  const name = decodeURIComponent(url.username);
  const headers = { 'content-type': 'application/json' };
  if (name) headers.authorization = `Basic ${btoa(`${name}:${decodeURIComponent(url.password)}`)}`;
  return { base: url.origin, headers };
});
const definitions = Number(process.env.DEFINITIONS ?? 500);
const queries = Number(process.env.QUERIES ?? 8);
const definitionsOfDatabase = 25;
let seed = Number(process.env.SEED ?? 1);

function random() { // mulberry32
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}
const below = (count) => Math.floor(random() * count);
const one = (values) => values[below(values.length)];
const happens = (chance) => random() < chance;
const hex = () => Array.from({ length: 32 }, () => below(16).toString(16)).join('');

// An answer that breaks off has its beginning as text. CouchDB leaves some of one in its connection.
async function ask(server, method, path, body) {
  const request = { method, headers: server.headers, body: body === undefined ? undefined : JSON.stringify(body) };
  const send = () => fetch(server.base + path, request);
  const answer = await send().catch(send);
  let text = '';
  try {
    for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) text += chunk;
    return { status: answer.status, json: JSON.parse(text) };
  } catch (failure) {
    return { status: answer.status, json: { failure: failure.message, text } };
  }
}

async function both(method, path, body) {
  const answers = await Promise.all(servers.map((server) => ask(server, method, path, body)));
  for (const answer of answers) {
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.json)}`);
  }
}

const words = ['a', 'A', 'b', 'B', 'aa', 'ab', 'Ab', 'ä', 'é', 'zebra', '', ' ', '-', '_', '10', '9', 'ß', 'ss', 'ñ', '日本', '😀', 'a-b', 'a b', '\ufffe', '"'];
function any(depth = 0) {
  return [
    () => null,
    () => happens(0.5),
    () => below(20) - 10,
    () => (below(40) - 20) / 4,
    () => one([1e15, -1e15, 1e300, 123456789012, 0, 1e-7, 0.1]),
    () => one(words),
    () => one(words) + one(words),
    () => (depth > 2 ? [] : Array.from({ length: below(4) }, () => any(depth + 1))),
    () => (depth > 2 ? {} : Object.fromEntries(Array.from({ length: below(4) }, () => [one(words), any(depth + 1)]))),
  ][below(9)]();
}

// Written with their revisions, so that both servers have the same.
function documents(isPartitioned) {
  const docs = [];
  for (let i = 0; i < 120; i++) {
    const _id = `${isPartitioned ? `p${i % 4}:` : ''}${one(['d', 'D', 'e', 'ä', 'x y', 'x+', 'x/'])}${i}`;
    const doc = { _id, _rev: `1-${hex()}`, type: one(words.slice(0, 9)), n: below(50) - 10, s: one(words) + one(words) };
    doc.x = (below(400) - 200) / 8;
    doc.date = [2000 + below(3), 1 + below(12), 1 + below(28)];
    doc.tags = Array.from({ length: below(4) }, () => one(words));
    if (happens(0.8)) doc.any = any();
    if (happens(0.6)) doc.o = { a: below(5), b: any(2) };
    if (happens(0.3)) doc.ref = `d${below(120)}`;
    if (happens(0.1)) doc._attachments = { 'a.txt': { content_type: 'text/plain', data: btoa('x'.repeat(below(50))) } };
    if (happens(0.1)) delete doc.n;
    if (happens(0.05)) delete doc.tags;
    if (happens(0.05)) Object.assign(doc, { _deleted: true });
    docs.push(doc);
    if (happens(0.1)) docs.push({ ...doc, _rev: `1-${hex()}`, n: below(50), _deleted: happens(0.3) });
  }
  for (let i = 0; i < 4; i++) {
    docs.push({ _id: `_design/other${i}`, _rev: `1-${hex()}`, type: 'design', n: i });
  }
  return docs;
}

const conditions = ['', '', '', 'if (doc.tags) ', "if (doc.type === 'a') ", "if (typeof doc.n === 'number') ", 'for (var t of doc.tags) ', 'if (doc.n % 2) ', 'if (doc._conflicts) ', 'if (doc._attachments) '];
const keys = ['doc.n', 'doc.n', 'doc.x', 'doc.s', 'doc.type', 'doc._id', 'doc._rev', 'null', 'undefined', 'true', 'doc.any', 'doc.any', 'doc.o', 'doc.tags', 'doc.date', 'doc.date', '[doc.type, doc.n]', '[doc.type, doc.s, doc.n]', '[doc.any, doc.type]', '[doc.type, doc.any]', '{ a: doc.n, b: doc.type }', '[doc.tags.length, doc.type]', '[doc.o.a, doc.type]', 'doc.n / 0', '-doc.n', 'doc.s.toUpperCase()', 'String(doc.any)', 'new Date(0)', '[doc.n, undefined]', 'doc.missing.member', '!doc._local_seq'];
const values = ['1', '1', 'doc.n', 'doc.n', 'doc.x', 'null', 'undefined', 'doc', 'doc.any', 'doc.s', '[doc.n, 1]', '[1, doc.x, doc.date[0]]', '{ a: doc.n }', '{ a: { b: doc.x }, c: 1 }', '{ _id: doc.ref }', '{ _id: doc._id, _rev: doc._rev }', 'doc.tags', 'doc._attachments', 'doc.n / 0'];
const reduces = ['_sum', '_sum', '_count', '_count', '_stats', '_stats', '_approx_count_distinct', '_first', '_last', '_top_3', '_bottom_2', '_top_1', '_nothing',
  'function (keys, values, rereduce) { return rereduce ? sum(values) : values.length; }',
  "function (keys, values) { return sum(values.map((it) => (typeof it === 'number' ? it : 0))); }",
  'function (keys, values) { return values.reduce((a, b) => (typeof b === "number" && b > a ? b : a), -1000); }',
  'function (keys, values, rereduce) { return rereduce ? values[0] : keys[0].length; }',
  'function () { return null; }',
  'function () {}',
  "function () { throw 'never'; }",
  'function (keys, values) { return typeof sum; }'];

const emit = () => `${one(conditions)}emit(${one(keys)}, ${one(values)});`;
const map = () =>
  happens(0.02)
    ? one(['function (doc) { emit(); }', 'function (doc) { emit(1); }', 'function (doc) { return 1; }', '(doc) => emit(doc.n)'])
    : `function (doc) { ${emit()}${happens(0.2) ? ` ${emit()}` : ''} }`;

function definition(isPartitioned) {
  const view = { map: map() };
  if (happens(0.65)) view.reduce = one(reduces);
  const options = {};
  if (happens(0.1)) options.include_design = happens(0.8);
  if (happens(0.1)) options.local_seq = happens(0.8);
  if (!isPartitioned && happens(0.15) && !/_(first|last)/.test(view.reduce)) view.options = { collation: one(['raw', 'raw', 'raw', 'other']) };
  if (happens(0.03)) options.collation = 'raw';
  if (isPartitioned && happens(0.3)) options.partitioned = false;
  return { views: { view }, ...(Object.keys(options).length > 0 && { options }) };
}

// A key of a row, some part of it, or any value.
function keyOf(rows) {
  const key = rows.length > 0 && happens(0.8) ? one(rows).key : any();
  if (Array.isArray(key) && happens(0.3)) return key.slice(0, below(key.length + 1));
  return Array.isArray(key) && happens(0.2) ? [...key.slice(0, -1), {}] : key;
}

function query(rows, isPartitioned) {
  const asked = {};
  const id = () => (rows.length > 0 ? one(rows).id : 'd1');
  const shape = below(10);
  if (shape < 2) asked[one(['startkey', 'start_key'])] = keyOf(rows);
  if (shape === 1 || shape === 2) asked[one(['endkey', 'end_key'])] = keyOf(rows);
  if (shape === 3) asked.key = keyOf(rows);
  if (shape === 4 && !isPartitioned) asked.keys = Array.from({ length: below(5) }, () => keyOf(rows));
  if (shape === 5 && rows.length > 0) {
    const [from, to] = [one(rows), one(rows)];
    Object.assign(asked, { startkey: from.key, startkey_docid: from.id, endkey: to.key, endkey_docid: to.id });
  }
  if (!isPartitioned && happens(0.05)) asked[one(['startkey_docid', 'start_key_doc_id', 'endkey_docid', 'end_key_doc_id'])] = id();
  if (happens(0.3)) asked.descending = happens(0.8);
  if (!isPartitioned && happens(0.2)) asked.inclusive_end = happens(0.3);
  if (happens(0.3)) asked.limit = below(30);
  if (happens(0.2)) asked.skip = below(40);
  if (happens(0.35)) asked.reduce = happens(0.2);
  if (happens(0.2)) asked.group = happens(0.8);
  if (happens(0.2)) asked.group_level = below(4);
  if (happens(0.25)) asked.include_docs = happens(0.8);
  if (happens(0.1)) asked.conflicts = happens(0.8);
  if (happens(0.05)) asked.attachments = happens(0.8);
  if (happens(0.05)) asked.att_encoding_info = true;
  if (happens(0.05)) asked.sorted = asked.skip !== undefined || happens(0.5); // CouchDB forgets `skip`
  if (happens(0.05)) asked.update = one([true, false, 'lazy']);
  if (happens(0.05)) asked.stable = happens(0.5);
  if (happens(0.03)) asked.update_seq = true;
  if (happens(0.03)) asked[one(['limit', 'skip', 'group_level', 'descending', 'reduce', 'update', 'stale', 'keys', 'unknown'])] = one([-1, 'x', null, 1.5, '', [], 'true', 'TRUE', '1']);
  return asked;
}

const isJson = /^(start_?key|end_?key|keys?)$/;
const text = (name, value) => (isJson.test(name) || typeof value !== 'string' ? JSON.stringify(value) : value);
const inUrl = (asked) =>
  Object.entries(asked).map(([name, value]) => `${name}=${encodeURIComponent(text(name, value))}`).join('&');

// A path behind the view's, a body, if the query is a POST, and the queries.
function request(rows, isPartitioned) {
  const way = below(6);
  const asked = query(rows, isPartitioned);
  if (way === 0) {
    const queries = [asked, ...Array.from({ length: below(3) }, () => query(rows, isPartitioned))];
    return ['/queries', { queries }, queries];
  }
  if (way === 1) return ['', asked, [asked]];
  if (way === 2 && !isPartitioned) {
    const { keys: some = [keyOf(rows), keyOf(rows)], ...others } = asked;
    return [`?${inUrl(others)}`, { keys: some }, [{ ...others, keys: some }]];
  }
  return [`?${inUrl(asked)}`, undefined, [asked]];
}

// Without what is each server's own: sequences, numbers of errors, which of several errors is told, what is counted
// approximately, and where docs/views.md tells of a difference.
function comparable(answer, design, isOfPartition, queries, repeated) {
  const own = { update_seq: 'some', _local_seq: 'some', ref: undefined, caused_by: 'some' };
  if (queries.length > 1 && answer.status === 400) own.reason = 'some';
  if (design.views.view.reduce === '_approx_count_distinct' && answer.json.total_rows === undefined) own.value = 'some';
  const sums = design.views.view.reduce === '_sum' && answer.json.total_rows === undefined;
  const all = JSON.parse(
    JSON.stringify(answer, (name, value) => {
      if (sums && name === 'value' && JSON.stringify(value).includes('"')) return numbers(value) ? value : 'no sum';
      return name in own ? own[name] : value;
    }),
  );
  queries.forEach((query, i) => {
    const part = all.json.results?.[i] ?? all.json;
    if (query.keys?.length > 1 || isOfPartition) delete part.offset;
    if (isOfPartition) delete part.total_rows;
    for (const row of part.rows ?? []) {
      if (row.value?._id && row.doc) row.doc._attachments = row.doc._conflicts = 'some';
    }
    for (const row of query.descending ? part.rows ?? [] : []) {
      if (repeated.has(place(row))) row.value = row.doc = 'one of several';
    }
  });
  return all;
}
const numbers = (value) => (typeof value === 'object' && value !== null ? Object.values(value).every(numbers) : typeof value === 'number');
const place = (row) => JSON.stringify([row.key, row.id]);

// Returns the first path at which two values differ, with its two values.
function difference(one, other, path = '') {
  const areObjects = [one, other].every((it) => typeof it === 'object' && it !== null);
  if (!areObjects || Array.isArray(one) !== Array.isArray(other)) return [path, one, other];
  for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
    if (!isDeepStrictEqual(one[name], other[name])) return difference(one[name], other[name], `${path}/${name}`);
  }
}

const shown = Number(process.env.SHOWN ?? 400);
let asked = 0;
let failed = 0;
let differing = 0;
async function compare(design, path, body, queries = [{}], repeated = new Set()) {
  asked++;
  const answers = await Promise.all(servers.map((server) => ask(server, body === undefined ? 'GET' : 'POST', path, body)));
  const [one, other] = answers.map((answer) => comparable(answer, design, path.includes('/_partition/'), queries, repeated));
  // CouchDB breaks an answer off whose second query is wrong, and fails where a reduction does.
  const hasFailed = other.status === 500 || (one.status === 400 && other.json.failure);
  failed += hasFailed ? 1 : 0;
  if (!isDeepStrictEqual(one, other) && !hasFailed) {
    differing++;
    const short = (value) => JSON.stringify(value)?.slice(0, shown);
    const [at, ...both] = difference(one, other);
    console.log(`${JSON.stringify(design)}\n  ${path} ${body === undefined ? '' : JSON.stringify(body)}`);
    console.log(`  ${at}: ${both.map(short).join(' | ')}`);
    for (const answer of answers) console.log(`  ${answer.status} ${short(answer.json)}`);
  }
  return answers;
}

for (let begun = 0; begun < definitions; begun += definitionsOfDatabase) {
  const isPartitioned = happens(0.2);
  const database = `/compared-${process.pid}-${begun}`;
  await both('PUT', `${database}?q=1${isPartitioned ? '&partitioned=true' : ''}`);
  try {
    await both('POST', `${database}/_bulk_docs`, { docs: documents(isPartitioned), new_edits: false });
    for (let i = begun; i < Math.min(definitions, begun + definitionsOfDatabase); i++) {
      const design = definition(isPartitioned);
      await both('POST', `${database}/_bulk_docs`, { docs: [{ _id: `_design/${i}`, _rev: `1-${hex()}`, ...design }], new_edits: false });
      const partition = isPartitioned && design.options?.partitioned !== false ? '/_partition/p1' : '';
      const view = `${database}${partition}/_design/${i}/_view/view`;
      const [listed, couch] = await compare(design, `${view}?reduce=false`);
      if (couch.status === 500) continue;
      const rows = listed.json.rows ?? [];
      const places = rows.map(place);
      const repeated = new Set(places.filter((it, at) => at > 0 && it === places[at - 1]));
      for (let j = 0; j < queries; j++) {
        const [end, body, several] = request(rows, isPartitioned);
        await compare(design, view + end, body, several, repeated);
      }
    }
  } finally {
    await both('DELETE', database);
  }
}
console.log(`${definitions} definitions, ${asked} queries, of which CouchDB failed ${failed}; ${differing} differences`);
process.exitCode = differing > 0 ? 1 : 0;
