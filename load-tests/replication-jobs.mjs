// Delays of many continuous replications of one server: node replication-jobs.mjs URL JOBS. Makes a source with one document
// and a description for each, waits until all are copied, and then writes to 1 % of the sources, five times. Prints a
// table.
const [url, count] = [process.argv[2], Number(process.argv[3])];
const BAR_MILLIS = 5000;

async function ask(method, path, body) {
  const answer = await fetch(url + path, {
    method,
    headers: { 'Content-Type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, text };
}

async function asked(method, path, body) {
  const answer = await ask(method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
}

/** Does something for each, sixteen at a time. */
async function each(all, what) {
  let next = 0;
  const worker = async () => {
    while (next < all.length) await what(all[next++]);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}

/** Waits until a document is in the target. */
async function copied(job, id) {
  while ((await ask('HEAD', `/t-${job}/${id}`)).status !== 200) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const jobs = Array.from({ length: count }, (_, i) => i);
await ask('PUT', '/_replicator');
await each(jobs, async (job) => {
  await asked('PUT', `/s-${job}`);
  await asked('PUT', `/s-${job}/first`, {});
});
const begun = performance.now();
for (let from = 0; from < count; from += 500) {
  const docs = jobs.slice(from, from + 500).map((job) => (
    { _id: `job-${job}`, source: `s-${job}`, target: `t-${job}`, create_target: true, continuous: true }));
  await asked('POST', '/_replicator/_bulk_docs', { docs });
}
await each(jobs, (job) => copied(job, 'first'));
const first = performance.now() - begun;

const delays = [];
for (let round = 0; round < 5; round++) {
  const moved = Array.from({ length: count / 100 }, (_, i) => (i * 100 + round * 17) % count);
  await Promise.all(moved.map(async (job) => {
    await asked('PUT', `/s-${job}/round-${round}`, { round });
    const written = performance.now();
    await copied(job, `round-${round}`);
    delays.push(performance.now() - written);
  }));
}
delays.sort((a, b) => a - b);
const at = (part) => Math.round(delays[Math.floor((delays.length - 1) * part)]);
console.log(`\n| ${count} continuous replications, of which 1 % have something to copy | |\n|---|---|`);
console.log(`| all have copied their first document after | ${(first / 1000).toFixed(1)} s |`);
console.log(`| delay of a document, median | ${at(0.5)} ms |`);
const last = at(0.99);
console.log(`| delay of a document, 99 % | ${last} ms (bar: ${BAR_MILLIS} ms) ${last <= BAR_MILLIS ? 'ok' : 'MISSED'} |`);
