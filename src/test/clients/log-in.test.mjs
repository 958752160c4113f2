// A server with an admin and users: each client logs in as its own users would.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { before, test } from 'node:test';
import { BasicAuthenticator, CloudantV1, CouchdbSessionAuthenticator } from '@ibm-cloud/cloudant';
import { BearerTokenAuthenticator, NoAuthAuthenticator } from 'ibm-cloud-sdk-core';
import Nano from 'nano';
import { PouchDB, arrived, cancelled, local } from './pouch.mjs';
import { freshName, serverUrl } from './server.mjs';

const admin = { username: 'root', password: process.env.LECTUS_PASSWORD };
const jan = { username: 'jan', password: 'p@ss word/&:ü' };
const eve = { username: 'eve', password: 'eve' };
const secret = Buffer.from(process.env.LECTUS_TOKEN_SECRET, 'base64');

const denied = { status: 403, reason: 'You are not allowed to access this db.' };
const nobody = { status: 401, reason: 'You are not authorized to access this db.' };
const wrong = { status: 401, reason: 'Name or password is incorrect.' };

const withAuth = ({ username, password }) =>
  serverUrl.replace('//', `//${encodeURIComponent(username)}:${encodeURIComponent(password)}@`);

const asRoot = Nano(withAuth(admin));
const part = (json) => Buffer.from(JSON.stringify(json)).toString('base64url');

function token(claims) {
  const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

/** What a proxy adds for a user that it has logged in. */
const proxied = (name, roles = '') => ({
  'X-Auth-CouchDB-UserName': name,
  'X-Auth-CouchDB-Roles': roles,
  'X-Auth-CouchDB-Token':
    createHmac('sha256', process.env.LECTUS_PROXY_SECRET).update(name).digest('hex'),
});

/** A database of jan's. */
async function databaseOf(name) {
  const db = freshName('team');
  await asRoot.db.create(db);
  await asRoot.request({
    db, path: '_security', method: 'PUT', body: { members: { names: [name] } },
  });
  return db;
}

/** What a browser does: it keeps the cookie that a log-in gave. */
async function cookieOf({ username, password }) {
  const answer = await fetch(`${serverUrl}/_session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: username, password }),
  });
  assert.equal(answer.status, 200);
  return answer.headers.get('set-cookie').split(';')[0];
}

const sending = (headers) => (url, options) => {
  for (const [name, value] of Object.entries(headers)) {
    options.headers.set(name, value);
  }
  return PouchDB.fetch(url, options);
};

before(async () => {
  await asRoot.db.create('_users');
  for (const { username, password } of [jan, eve]) {
    await asRoot.use('_users').insert({
      _id: `org.couchdb.user:${username}`, name: username, password, type: 'user', roles: [],
    });
  }
});

/** Reads, writes and listens. */
async function works(db) {
  const { rev } = await db.put({ _id: 'a', v: 1 });
  assert.equal((await db.get('a'))._rev, rev);
  const here = local();
  const sync = here.sync(db, { live: true, retry: true });
  sync.on('denied', assert.fail);
  await here.put({ _id: 'b' });
  await arrived(db, 'b');
  await cancelled(sync);
  await here.destroy();
}

test('PouchDB with a password', async () => {
  const name = await databaseOf('jan');
  const options = { auth: jan, skip_setup: true };
  await works(new PouchDB(`${serverUrl}/${name}`, options));
  await assert.rejects(new PouchDB(`${serverUrl}/${name}`, { auth: eve, skip_setup: true }).get('a'), denied);
  await assert.rejects(new PouchDB(`${serverUrl}/${name}`, { skip_setup: true }).get('a'), nobody);
  const mistaken = { auth: { username: 'jan', password: 'x' }, skip_setup: true };
  await assert.rejects(new PouchDB(`${serverUrl}/${name}`, mistaken).get('a'), wrong);
});

test('PouchDB with a cookie', async () => {
  const name = await databaseOf('jan');
  const fetch = sending({ Cookie: await cookieOf(jan) });
  await works(new PouchDB(`${serverUrl}/${name}`, { fetch, skip_setup: true }));
  const others = sending({ Cookie: await cookieOf(eve) });
  await assert.rejects(
    new PouchDB(`${serverUrl}/${name}`, { fetch: others, skip_setup: true }).get('a'), denied);
});

test('PouchDB with a token', async () => {
  const name = await databaseOf('ann');
  const exp = Math.floor(Date.now() / 1000) + 600;
  const fetch = sending({ Authorization: `Bearer ${token({ sub: 'ann', exp })}` });
  await works(new PouchDB(`${serverUrl}/${name}`, { fetch, skip_setup: true }));
  const late = sending({ Authorization: `Bearer ${token({ sub: 'ann', exp: exp - 1200 })}` });
  await assert.rejects(
    new PouchDB(`${serverUrl}/${name}`, { fetch: late, skip_setup: true }).get('a'),
    { status: 401, reason: 'exp not in future' });
});

test('PouchDB behind a proxy', async () => {
  const name = await databaseOf('ann');
  const of = (headers) =>
    new PouchDB(`${serverUrl}/${name}`, { fetch: sending(headers), skip_setup: true });
  await works(of(proxied('ann')));
  await assert.rejects(of(proxied('bob')).get('a'), denied);
  await assert.rejects(of({ ...proxied('bob'), 'X-Auth-CouchDB-UserName': 'ann' }).get('a'), nobody);
});

test('nano with a password', async () => {
  const name = await databaseOf('jan');
  const db = Nano(withAuth(jan)).use(name);
  await db.insert({ v: 1 }, 'a');
  assert.equal((await db.get('a')).v, 1);
  await assert.rejects(Nano(withAuth(jan)).db.create(freshName('new')), { statusCode: 401 });
  await assert.rejects(Nano(withAuth(eve)).use(name).get('a'), { statusCode: 403 });
});

test('nano with a cookie', async () => {
  const name = await databaseOf('jan');
  const nano = Nano(serverUrl);
  await assert.rejects(nano.auth('jan', 'x'), { statusCode: 401 });
  assert.deepEqual((await nano.auth(jan.username, jan.password)).roles, []);
  assert.equal((await nano.session()).userCtx.name, 'jan');
  await nano.use(name).insert({ v: 1 }, 'a');
  assert.equal((await nano.use(name).get('a')).v, 1);
});

test('nano with a token', async () => {
  const exp = Math.floor(Date.now() / 1000) + 600;
  const claims = { sub: 'chief', exp, '_couchdb.roles': ['_admin'] };
  const nano = Nano({
    url: serverUrl, headers: { Authorization: `Bearer ${token(claims)}` },
  });
  const { userCtx } = await nano.session();
  assert.deepEqual(userCtx, { name: 'chief', roles: ['_admin'] });
  const name = freshName('chief');
  await nano.db.create(name);
  await nano.db.destroy(name);
});

test('nano behind a proxy', async () => {
  const name = await databaseOf('ann');
  const nano = Nano({ url: serverUrl, headers: proxied('ann', 'a,b') });
  assert.deepEqual((await nano.session()).userCtx, { name: 'ann', roles: ['a', 'b'] });
  await nano.use(name).insert({ v: 1 }, 'a');
  const forged = { ...proxied('ann'), 'X-Auth-CouchDB-Token': '00' };
  await assert.rejects(Nano({ url: serverUrl, headers: forged }).use(name).get('a'), { statusCode: 401 });
});

function cloudant(authenticator, headers) {
  const service = CloudantV1.newInstance({ authenticator, headers });
  service.setServiceUrl(serverUrl);
  return service;
}

/** One may write, the other may not even read. */
async function differ(member, stranger, status) {
  const db = await databaseOf('jan');
  const put = await member.putDocument({ db, docId: 'a', document: { v: 1 } });
  assert.equal(put.result.ok, true);
  assert.equal((await member.postAllDocs({ db })).result.total_rows, 1);
  await assert.rejects(stranger.getDocument({ db, docId: 'a' }), { status });
}

test('the Cloudant SDK with a session', async () => {
  const service = (who) => cloudant(new CouchdbSessionAuthenticator(who));
  await differ(service(jan), service(eve), 403);
});

test('the Cloudant SDK with a password', async () => {
  const service = (who) => cloudant(new BasicAuthenticator(who));
  await differ(service(jan), service({ ...jan, password: 'x' }), 401);
});

test('the Cloudant SDK with a token', async () => {
  const exp = Math.floor(Date.now() / 1000) + 600;
  const service = (sub) =>
    cloudant(new BearerTokenAuthenticator({ bearerToken: token({ sub, exp }) }));
  await differ(service('jan'), service('eve'), 403);
});

test('the Cloudant SDK behind a proxy', async () => {
  const service = (name) => cloudant(new NoAuthAuthenticator(), proxied(name));
  await differ(service('jan'), service('eve'), 403);
});
