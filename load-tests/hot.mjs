// Updates 100 documents repeatedly: node hot.mjs URL UPDATES
const [url, updates] = [process.argv[2], Number(process.argv[3])];
const DOCUMENTS = 100;

await fetch(url, { method: 'PUT' });
let revs = [];
for (let done = 0; done < updates; done += DOCUMENTS) {
  const docs = [];
  for (let i = 0; i < DOCUMENTS; i += 1) {
    docs.push({ _id: `hot-${i}`, _rev: revs[i], done });
  }
  const answer = await fetch(`${url}/_bulk_docs`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ docs }),
  });
  const rows = await answer.json();
  revs = rows.map((row) => row.rev);
  if (revs.includes(undefined)) {
    throw new Error(JSON.stringify(rows.find((row) => !row.rev)));
  }
}
