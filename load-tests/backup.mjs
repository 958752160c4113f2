// Measures backups of a database; called by backup.sh:
//   node load-tests/backup.mjs URL-OF-SERVER DOCUMENTS FOLDER LECTUS…
// LECTUS is the command line of its commands; FOLDER has the programs of couchbackup in node_modules.
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, openSync, rmSync } from 'node:fs';

const [server, total, folder, ...lectus] = process.argv.slice(2);
const count = Number(total);
const batch = 1000;
const writers = 4;
const changes = 1000;

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

/** Runs a program, with a file as its input or output, so that what is measured is the server and the program. */
function run([program, ...args], { input, output } = {}) {
  const files = [input ? openSync(input, 'r') : 'ignore', output ? openSync(output, 'w') : 'ignore'];
  const said = [];
  return new Promise((resolve, reject) => {
    const running = spawn(program, args, { stdio: [...files, 'pipe'] });
    running.stderr.on('data', (part) => said.splice(0, said.length - 20, part));
    running.on('error', reject);
    running.on('close', (code) => {
      files.filter(Number.isInteger).forEach((file) => closeSync(file));
      if (code === 0) {
        resolve();
      } else {
        reject(new Error(`${program} ${args.join(' ')} ended with ${code}: ${Buffer.concat(said)}`));
      }
    });
  });
}

const curl = (...args) => run(['curl', '-fsS', ...args]);
const image = (query, file) => curl('-o', `${folder}/${file}`, `${server}/w/_image?follower=load${query}`);
const backup = () => run([...lectus, 'backup', 'w', '--url', server, '--to', `${folder}/backup`]);
const couch = (program, db, ...args) => [`${folder}/node_modules/.bin/${program}`, '--url', server, '--db', db, ...args];
const sequence = async () => (await (await asked('GET', '/w')).json()).update_seq;

/** A copy is needed no longer than its time. */
async function copied(db, work) {
  const taken = await seconds(work);
  const { doc_count: documents } = await (await asked('GET', `/${db}`)).json();
  if (documents !== count) {
    throw new Error(`${db} has ${documents} documents of ${count}`);
  }
  await asked('DELETE', `/${db}`);
  return taken;
}

const median = (all) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)];
const row = (what, value) => console.log(`| ${what} | ${value} |`);
const rate = (time) => Math.round(count / time);

await asked('PUT', '/w');
row(`${count} documents`, 'figure');
row('---', '---');
const writing = await seconds(() => write('w', count));
row('_bulk_docs, documents/s', rate(writing));
const reads = [];
const images = [];
for (let i = 0; i < 3; i++) {
  reads.push(await seconds(() => curl('-o', '/dev/null', `${server}/w/_changes?include_docs=true`)));
  images.push(await seconds(() => image('', 'whole')));
}
row('_changes?include_docs, documents/s', rate(median(reads)));
row('_image read, documents/s', rate(median(images)));
row('_image read, × _changes', (median(reads) / median(images)).toFixed(2));
const stored = [];
for (let i = 0; i < 2; i++) {
  const post = ['-X', 'POST', '-T', `${folder}/whole`, `${server}/copy${i}/_image`];
  stored.push(await copied(`copy${i}`, () => curl(...post)));
}
row('_image stored, documents/s', rate(Math.min(...stored)));
row('_image stored, × _bulk_docs', (writing / Math.min(...stored)).toFixed(2));
rmSync(`${folder}/whole`);

row('lectus backup, documents/s', rate(await seconds(backup)));
const restore = [...lectus, 'restore', `${folder}/backup`, '--url', server, '--as', 'restored'];
row('lectus restore, documents/s', rate(await copied('restored', () => run(restore))));
const text = `${folder}/text`;
row('couchbackup, documents/s', rate(await seconds(() => run(couch('couchbackup', 'w'), { output: text }))));
await asked('PUT', '/fromtext');
const couchrestore = () => run(couch('couchrestore', 'fromtext'), { input: text });
row('couchrestore, documents/s', rate(await copied('fromtext', couchrestore)));
rmSync(text);

const since = await sequence();
await write('w', changes);
row(`an increment of ${changes} changes, s`, (await seconds(() => image(`&since=${since}`, 'next'))).toFixed(2));
row('the same by lectus backup, with the start of a JVM, s', (await seconds(backup)).toFixed(2));
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
