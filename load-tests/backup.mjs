// Measures images of a database:
//   node load-tests/backup.mjs URL-OF-SERVER DOCUMENTS FOLDER
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';

const [server, count, folder] = [process.argv[2], Number(process.argv[3]), process.argv[4]];
const batch = 1000;
const writers = 4;

const seconds = async (work) => {
  const begun = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - begun) / 1e9;
};

async function asked(method, path, body, headers = {}) {
  const answer = await fetch(server + path, { method, body, headers });
  if (!answer.ok) {
    throw new Error(`${method} ${path}: ${answer.status} ${(await answer.text()).slice(0, 200)}`);
  }
  return answer;
}

let written = 0;
const texts = Array.from({ length: 64 }, () => randomBytes(700).toString('base64'));

function bulk(size) {
  const docs = Array.from({ length: size }, () => ({
    _id: createHash('md5').update(`${written++}`).digest('hex'),
    n: written,
    text: texts[written % texts.length],
  }));
  return JSON.stringify({ docs });
}

async function write(db, documents) {
  let left = documents;
  await Promise.all(
    Array.from({ length: writers }, async () => {
      while (left > 0) {
        const size = Math.min(batch, left);
        left -= size;
        await (await asked('POST', `/${db}/_bulk_docs`, bulk(size), { 'Content-Type': 'application/json' })).text();
      }
    }),
  );
}

/** Documents per second in a time, while something else goes on. */
async function writingFor(db, milliseconds) {
  const end = Date.now() + milliseconds;
  const before = written;
  const taken = await seconds(async () => {
    await Promise.all(
      Array.from({ length: writers }, async () => {
        while (Date.now() < end) {
          await (await asked('POST', `/${db}/_bulk_docs`, bulk(100), { 'Content-Type': 'application/json' })).text();
        }
      }),
    );
  });
  return (written - before) / taken;
}

/** In a process of its own, so that what is measured is the server. */
const image = (query, file) =>
  curl('-o', `${folder}/${file}`, `${server}/w/_image?follower=load${query}`);

function curl(...args) {
  return new Promise((resolve, reject) => {
    spawn('curl', ['-fsS', ...args], { stdio: ['ignore', 'ignore', 'inherit'] }).on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`curl ${args} ended with ${code}`)),
    );
  });
}

const sequence = async () => (await (await asked('GET', '/w')).json()).update_seq;

const median = (all) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)];
const row = (what, value) => console.log(`| ${what} | ${value} |`);

await asked('PUT', '/w');
row('what', 'figure');
row('---', '---');
const writing = await seconds(() => write('w', count));
const reads = [];
const images = [];
for (let i = 0; i < 3; i++) {
  reads.push(await seconds(() => curl('-o', '/dev/null', `${server}/w/_changes?include_docs=true`)));
  images.push(await seconds(() => image('', 'whole')));
}
const stored = [];
for (let i = 0; i < 2; i++) {
  stored.push(
    await seconds(() => curl('-X', 'POST', '-T', `${folder}/whole`, `${server}/copy${i}/_image`)),
  );
}
const rate = (time) => Math.round(count / time);
row('_bulk_docs, documents/s', rate(writing));
row('_changes?include_docs, documents/s', rate(median(reads)));
row('_image read, documents/s', rate(median(images)));
row('_image read, × _changes', (median(reads) / median(images)).toFixed(2));
row('_image stored, documents/s', rate(Math.min(...stored)));
row('_image stored, × _bulk_docs', (writing / Math.min(...stored)).toFixed(2));
const since = await sequence();
await write('w', 1000);
row('an increment of 1 000 changes, s', (await seconds(() => image(`&since=${since}`, 'next'))).toFixed(2));
const alone = [];
const beside = [];
for (let i = 0; i < 3; i++) {
  alone.push(await writingFor('w', 4000));
  let goesOn = true;
  const reading = (async () => {
    while (goesOn) {
      await image('', 'beside');
    }
  })();
  beside.push(await writingFor('w', 4000));
  goesOn = false;
  await reading;
}
row('writers alone, documents/s', Math.round(median(alone)));
row('writers beside an image that is read, ×', (median(beside) / median(alone)).toFixed(2));
