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
/** Documents for couchbackup, which takes minutes for more. */
const few = Math.min(count, 50_000);
/** How often what takes long is measured. */
const times = count > 500_000 ? 1 : 3;

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
const backup = (...flags) => run([...lectus, 'backup', 'w', '--url', server, '--to', `${folder}/backup`, ...flags]);
const couch = (program, db, ...args) => [`${folder}/node_modules/.bin/${program}`, '--url', server, '--db', db, ...args];
const sequence = async () => (await (await asked('GET', '/w')).json()).update_seq;

/** A copy is needed no longer than its time. */
async function copied(db, work, expected = count) {
  const taken = await seconds(work);
  const { doc_count: documents } = await (await asked('GET', `/${db}`)).json();
  if (documents !== expected) {
    throw new Error(`${db} has ${documents} documents of ${expected}`);
  }
  await asked('DELETE', `/${db}`);
  return taken;
}

const median = (all) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)];
const row = (what, value, bar = '') => console.log(`| ${what} | ${value} | ${bar} |`);
const rate = (time, documents = count) => Math.round(documents / time);
const share = (one, other) => (one / other).toFixed(2);

await asked('PUT', '/w');
row(`${count} documents`, 'figure', 'bar');
row('---', '---', '---');
const writing = await seconds(() => write('w', count));
row('_bulk_docs, documents/s', rate(writing));
const reads = [];
const images = [];
const backups = [];
for (let i = 0; i < times; i++) {
  reads.push(await seconds(() => curl('-o', '/dev/null', `${server}/w/_changes?include_docs=true`)));
  images.push(await seconds(() => image('', 'whole')));
  backups.push(await seconds(() => backup('--whole-every', '0', '--keep', '1')));
}
row('_changes?include_docs, documents/s', rate(median(reads)));
row('_image read, × _changes', share(median(reads), median(images)));
row('lectus backup, documents/s', rate(median(backups)));
row('lectus backup, × _changes', share(median(reads), median(backups)), '≥ .7');
const post = ['-X', 'POST', '-T', `${folder}/whole`, `${server}/copy/_image`];
row('_image stored, × _bulk_docs', share(writing, await copied('copy', () => curl(...post))));
rmSync(`${folder}/whole`);
const restore = [...lectus, 'restore', `${folder}/backup`, '--url', server, '--as', 'restored'];
const restored = await copied('restored', () => run(restore));
row('lectus restore, documents/s', rate(restored));
row('lectus restore, × _bulk_docs', share(writing, restored), '≥ .9');

const since = await sequence();
await write('w', changes);
row(`an increment of ${changes} changes, s`, (await seconds(() => image(`&since=${since}`, 'next'))).toFixed(2), '< 1');
row('the same by lectus backup, with the start of a JVM, s', (await seconds(backup)).toFixed(2));
const alone = [];
const shares = [];
const besideAnImage = async () => {
  let goesOn = true;
  const reading = (async () => {
    while (goesOn) {
      await image('', 'beside');
    }
  })();
  const beside = await writingFor('w', 3000);
  goesOn = false;
  await reading;
  return beside;
};
// The rate of writers alone doubles and halves with the store's compactions, so neighbours are compared, in turns.
for (let i = 0; i < 10; i++) {
  const before = i % 2 ? await besideAnImage() : 0;
  alone.push(await writingFor('w', 3000));
  shares.push((before || (await besideAnImage())) / alone[i]);
}
row('writers alone, documents/s', Math.round(median(alone)));
row('writers beside an image that is read, ×', median(shares).toFixed(2), '≥ .8');
await asked('DELETE', '/w');

await asked('PUT', '/few');
await write('few', few);
const text = `${folder}/text`;
const texted = await seconds(() => run(couch('couchbackup', 'few'), { output: text }));
row(`couchbackup of ${few} documents, documents/s`, rate(texted, few));
await asked('PUT', '/fromtext');
const untexted = await copied('fromtext', () => run(couch('couchrestore', 'fromtext'), { input: text }), few);
row(`couchrestore of ${few} documents, documents/s`, rate(untexted, few));
