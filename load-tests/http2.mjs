// Measures how soon rows reach 100 feeds that share one HTTP/2 connection, with small requests beside them on the
// same connection, and how soon they reach 100 feeds on HTTP/1.1 connections of their own. Both take turns, so that
// what else the machine does meets both alike. Prints a table, and the ratio of the medians of its rounds.
//
//   node load-tests/http2.mjs PORT [SECONDS_A_ROUND] [ROUNDS]
import http from 'node:http';
import http2 from 'node:http2';

const [port, seconds = '4', rounds = '4'] = process.argv.slice(2);
const base = `http://127.0.0.1:${port}`;
const FEEDS = 100;
const WRITES_A_SECOND = 50;
const FEED = '/h2load/_changes?feed=continuous&since=now&heartbeat=60000';

const plain = new http.Agent({ keepAlive: true });

function put(path, body) {
  return new Promise((resolve, reject) => {
    const request = http.request(
      base + path,
      { method: 'PUT', agent: plain, headers: { 'content-type': 'application/json' } },
      (answer) => answer.resume().on('end', () => resolve(answer.statusCode)),
    );
    request.on('error', reject).end(body);
  });
}

// Each opens one feed and tells its rows; returns how to ask for something small, and how to end.
const forms = {
  'one HTTP/2 connection': () => {
    const session = http2.connect(base);
    const open = (path, onText, onOpen = () => {}) => {
      const stream = session.request({ ':path': path });
      stream.setEncoding('utf8').on('data', onText).on('response', onOpen).on('error', () => {});
      return stream;
    };
    return {
      feed: (onText) => new Promise((resolve) => open(FEED, onText, resolve)),
      ask: () => new Promise((resolve) => open('/_up', () => {}).on('end', resolve)),
      end: () => session.destroy(),
    };
  },
  '100 HTTP/1.1 connections': () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: FEEDS + 1 });
    const get = (path, then) => http.get(base + path, { agent }, then).on('error', () => {});
    return {
      feed: (onText) =>
        new Promise((resolve) => get(FEED, (answer) => resolve(answer.setEncoding('utf8').on('data', onText)))),
      ask: () => new Promise((resolve) => get('/_up', (answer) => answer.resume().on('end', resolve))),
      end: () => agent.destroy(),
    };
  },
};

function quantile(sorted, part) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
}

let documents = 0;

async function round(form) {
  const client = forms[form]();
  const written = new Map();
  const delays = [];
  const asked = [];
  const listener = () => {
    let rest = '';
    return (text) => {
      const now = performance.now();
      const lines = (rest + text).split('\n');
      rest = lines.pop();
      for (const line of lines.filter((row) => row)) {
        delays.push(now - written.get(JSON.parse(line).id));
      }
    };
  };
  for (let i = 0; i < FEEDS; i++) {
    await client.feed(listener());
  }
  const writes = WRITES_A_SECOND * Number(seconds);
  const begin = performance.now();
  for (let i = 0; i < writes; i++) {
    const due = begin + (i * 1000) / WRITES_A_SECOND;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
    const id = `d${documents++}`;
    written.set(id, performance.now());
    put(`/h2load/${id}`, '{}');
    const before = performance.now();
    client.ask().then(() => asked.push(performance.now() - before));
  }
  const deadline = performance.now() + 10_000;
  while (delays.length < writes * FEEDS && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  client.end();
  if (delays.length !== writes * FEEDS) {
    throw new Error(`${form}: ${delays.length} rows came, not ${writes * FEEDS}`);
  }
  delays.sort((a, b) => a - b);
  asked.sort((a, b) => a - b);
  return [quantile(delays, 0.5), quantile(delays, 0.99), quantile(asked, 0.5), quantile(asked, 0.99)];
}

const status = await put('/h2load', '');
if (status !== 201 && status !== 412) {
  throw new Error(`PUT /h2load: ${status}`);
}
const names = Object.keys(forms);
for (const name of names) {
  await round(name); // warms up
}
const figures = new Map(names.map((name) => [name, []]));
for (let i = 0; i < Number(rounds); i++) {
  for (const name of i % 2 ? [...names].reverse() : names) {
    figures.get(name).push(await round(name));
  }
}
const median = (name, column) => quantile(figures.get(name).map((figure) => figure[column]).sort((a, b) => a - b), 0.5);
console.log('| 100 feeds, 50 writes/s | row p50, ms | row p99, ms | GET /_up p50, ms | GET /_up p99, ms |');
console.log('|---|---|---|---|---|');
for (const name of names) {
  console.log(`| ${name} | ${[0, 1, 2, 3].map((column) => median(name, column).toFixed(1)).join(' | ')} |`);
}
console.log(`| ratio | ${[0, 1, 2, 3].map((column) => (median(names[0], column) / median(names[1], column)).toFixed(2)).join(' | ')} |`);
process.exit(0);
