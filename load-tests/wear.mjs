// Updates documents of load.mjs at random, one PUT each, at an even rate:
// node wear.mjs URL DOCUMENTS UPDATES_A_SECOND SECONDS. Prints their number and the bytes of their JSON.
const [url, documents, rate, seconds] = [process.argv[2], ...process.argv.slice(3).map(Number)];

async function update(number) {
  const address = `${url}/doc-${String(Math.floor(Math.random() * documents)).padStart(8, '0')}`;
  const doc = await (await fetch(address)).json();
  const body = JSON.stringify({ ...doc, m01: number });
  const answer = await fetch(address, { method: 'PUT', headers: { 'Content-Type': 'application/json' }, body });
  if (answer.status !== 201) {
    throw new Error(`PUT answered ${answer.status}: ${await answer.text()}`);
  }
  await answer.arrayBuffer();
  return body.length;
}

const begin = performance.now();
const updates = [];
while (updates.length < rate * seconds) {
  const due = begin + (updates.length * 1000) / rate;
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
  updates.push(update(updates.length));
}
const bytes = (await Promise.all(updates)).reduce((sum, each) => sum + each, 0);
console.log(`${updates.length} ${bytes}`);
