// Measures a database that moves while it is written; called by relocate.sh:
//   node load-tests/relocate.mjs URL-OF-OLD-PLACE URL-OF-NEW-PLACE DOCUMENTS
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

const [here, there, total] = process.argv.slice(2);
const count = Number(total);
const batch = 1000;
const fillers = 4;
const writers = 64;
const aloneSeconds = 10;
const paced = 1000;
const pacedDocuments = 20_000;

async function asked(server, method, path, body) {
  const headers = body === undefined ? {} : { 'Content-Type': 'application/json' };
  const answer = await fetch(server + path, { method, headers, body: body && JSON.stringify(body) });
  if (!answer.ok) {
    throw new Error(`${method} ${path}: ${answer.status} ${(await answer.text()).slice(0, 200)}`);
  }
  return answer.json();
}

const seconds = () => Number(process.hrtime.bigint()) / 1e9;
const texts = Array.from({ length: 64 }, () => randomBytes(700).toString('base64'));

/** Returns documents per second. */
async function fill(db, documents) {
  await asked(here, 'PUT', `/${db}`);
  let written = 0;
  const begun = seconds();
  await Promise.all(
    Array.from({ length: fillers }, async () => {
      while (written < documents) {
        const size = Math.min(batch, documents - written);
        const from = written;
        written += size;
        const docs = Array.from({ length: size }, (_, i) => ({
          _id: createHash('md5').update(`${from + i}`).digest('hex'),
          n: from + i,
          text: texts[i % texts.length],
        }));
        await asked(here, 'POST', `/${db}/_bulk_docs`, { docs });
      }
    }),
  );
  return documents / (seconds() - begun);
}

const documentsOf = async (server, db) => (await asked(server, 'GET', `/${db}`)).doc_count;

/** Puts new documents on as many connections as there are writers, until it is stopped. */
function write(db) {
  const running = spawn('wrk', ['-t2', `-c${writers}`, '-d1h', '-s', 'load-tests/wrk/put.lua', `${here}/${db}`], {
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => {
    running.on('close', resolve);
  });
  return () => {
    running.kill('SIGINT');
    return ended;
  };
}

async function begin(db) {
  return (await asked(here, 'POST', '/_relocations', { source: db, target: `${there}/${db}` })).id;
}

async function state(id) {
  const move = await asked(here, 'GET', `/_relocations/${id}`);
  if (move.state === 'ended' || move.attempt > 1) {
    throw new Error(`the move broke off: ${JSON.stringify(move)}`);
  }
  return move.state;
}

/** Waits until the first image has come; later ones have what was written meanwhile. */
async function copied(id) {
  for (;;) {
    const answer = await fetch(`${there}/_relocations/${id}/arrivals/1`);
    if (answer.ok && (await answer.json()).images > 0) {
      return;
    }
    await state(id);
    await pause(100);
  }
}

async function moved(id) {
  while ((await state(id)) !== 'moved') {
    await pause(20);
  }
}

const row = (what, value, bar = '') => console.log(`| ${what} | ${value} | ${bar} |`);

/** A copy, and writers as fast as they can. */
async function besideWriters() {
  const filling = await fill('w', count);
  row('_bulk_docs, documents/s', Math.round(filling));
  let stop = write('w');
  await pause(3000);
  let before = await documentsOf(here, 'w');
  await pause(aloneSeconds * 1000);
  const alone = ((await documentsOf(here, 'w')) - before) / aloneSeconds;
  await stop();
  row(`${writers} writers alone, documents/s`, Math.round(alone));

  stop = write('w');
  await pause(3000);
  before = await documentsOf(here, 'w');
  const begun = seconds();
  const id = await begin('w');
  await copied(id);
  const taken = seconds() - begun;
  const after = await documentsOf(here, 'w');
  await stop();
  row('copied beside them, documents/s', Math.round(after / taken));
  row('writers beside the copy, documents/s', Math.round((after - before) / taken));
  row('copied, x _bulk_docs', (after / taken / filling).toFixed(2), '>= 0.5');
  row('writers beside the copy, x alone', ((after - before) / taken / alone).toFixed(2), '>= 0.5');
  await moved(id);
  row('the whole move, s', (seconds() - begun).toFixed(1));
}

/** One write a millisecond. Returns the longest time without an acknowledged one, and how many were refused. */
async function pacedWriters(db, until) {
  const agent = new Agent({ keepAlive: true, maxSockets: writers });
  const figures = { gap: 0, refused: 0, written: 0 };
  let last = seconds();
  const put = (n) =>
    new Promise((resolve, reject) => {
      const sent = request(`${here}/${db}/p${n}`, { agent, method: 'PUT', headers: { 'Content-Type': 'application/json' } });
      sent.on('response', (answer) => {
        answer.resume();
        answer.on('end', () => {
          if (answer.statusCode === 201) {
            figures.gap = Math.max(figures.gap, seconds() - last);
            last = seconds();
            figures.written++;
          } else {
            figures.refused++;
          }
          resolve();
        });
      });
      sent.on('error', reject);
      sent.end('{"a":1}');
    });
  const open = new Set();
  const begun = seconds();
  let n = 0;
  let over = false;
  until.then(() => {
    over = true;
  });
  while (!over) {
    for (; n < (seconds() - begun) * paced; n++) {
      const one = put(n).finally(() => open.delete(one));
      open.add(one);
    }
    await pause(1);
  }
  await Promise.all(open);
  agent.destroy();
  return { ...figures, rate: n / (seconds() - begun) };
}

async function refused() {
  await fill('p', Math.min(count, pacedDocuments));
  const over = (async () => {
    await pause(3000);
    await moved(await begin('p'));
    await pause(2000);
  })();
  const figures = await pacedWriters('p', over);
  row('writes/s, paced', Math.round(figures.rate), `${paced}`);
  row('refused while it moved', figures.refused);
  row('longest time without an acknowledged write, s', figures.gap.toFixed(2), '<= 1');
}

row(`${count} documents`, 'figure', 'bar');
row('---', '---', '---');
await besideWriters();
await refused();
