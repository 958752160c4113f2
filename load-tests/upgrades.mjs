// How long a known user's log-in takes beside the first log-ins of users whose hashes were imported
// from a CouchDB with few iterations. Takes a minute and a half.
// node load-tests/upgrades.mjs http://ADMIN:PASSWORD@HOST:PORT [IMPORTED]
import {pbkdf2Sync} from 'node:crypto';

const url = new URL(process.argv[2]);
const imported = Number(process.argv[3] ?? 60);
const base = `${url.protocol}//${url.host}`;
const basic = (name, password) =>
  'Basic ' + Buffer.from(`${name}:${password}`).toString('base64');
const admin = basic(url.username, url.password);

async function ask(method, path, authorization, body) {
  const begun = performance.now();
  const answer = await fetch(base + path, {
    method,
    headers: {authorization, 'content-type': 'application/json'},
    body: body && JSON.stringify(body),
  });
  await answer.text();
  if (!answer.ok && answer.status !== 412) {
    throw new Error(`${method} ${path}: ${answer.status}`);
  }
  return performance.now() - begun;
}

const user = (name, members) =>
  ask('PUT', `/_users/org.couchdb.user:${name}`, admin,
    {name, type: 'user', roles: [], ...members});
const logIn = name => ask('GET', '/_session', basic(name, name));

const run = Date.now().toString(36);
await ask('PUT', '/_users', admin);
const known = [0, 1, 2, 3].map(i => `known-${run}-${i}`);
for (const name of known) {
  await user(name, {password: name});
  await logIn(name);
}
const first = Array.from({length: imported}, (none, i) => `imported-${run}-${i}`);
for (const name of first) {
  const derived = pbkdf2Sync(name, 'salt', 10, 20, 'sha1').toString('hex');
  await user(name,
    {password_scheme: 'pbkdf2', iterations: 10, salt: 'salt', derived_key: derived});
}
// What was right is not compared again for a minute.
await new Promise(done => setTimeout(done, 65_000));
const alone = await logIn(known[0]);
const begun = performance.now();
await Promise.all(first.map(logIn));
const all = performance.now() - begun;
const beside = [];
for (const name of known.slice(1)) {
  beside.push(await logIn(name));
}
const seconds = millis => (millis / 1000).toFixed(2) + ' s';
console.log(`alone ${seconds(alone)}; ${imported} first log-ins ${seconds(all)}; `
  + `known users beside the upgrades ${beside.map(seconds).join(', ')}`);
