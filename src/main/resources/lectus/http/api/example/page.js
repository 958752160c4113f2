import {ChangesSocket} from './changes-socket.js';

const MOST_ROWS = 500;
const HUES = 6;
/** What a reload finds again: the subscriptions with their resume tokens. */
const REMEMBERED = 'lectus.subscriptions';

const byId = id => document.getElementById(id);
const root = new URL('..', location.href);
const socketUrl = new URL('_changes', root);
socketUrl.protocol = root.protocol === 'https:' ? 'wss:' : 'ws:';

let shown = 0;
let nextId = 1;
const cards = new Map();
const changes = new ChangesSocket(socketUrl.href);

/** Text is only ever set as text: names and ids come from whoever writes documents. */
function element(name, className, text) {
  const made = document.createElement(name);
  made.className = className ?? '';
  made.textContent = text ?? '';
  return made;
}

const names = db => (Array.isArray(db) ? db : [db]).join(', ');
const hue = id => `hue-${(Number(id.slice(1)) - 1) % HUES}`;

// --- The socket ---

changes.addEventListener('state', ({detail: state}) => {
  byId('status').textContent = {waiting: 'reconnecting'}[state] ?? state;
  byId('status').dataset.state = state;
});

changes.addEventListener('row', ({detail: message}) => {
  const {id, db, at, row} = message;
  const line = element('tr', `fresh ${hue(id)}${row.deleted ? ' deleted' : ''}`);
  line.append(
      element('td', '', id),
      element('td', '', db),
      element('td', '', row.id),
      element('td', '', row.changes[0].rev),
      element('td', '', at));
  line.title = 'Edit this document';
  line.addEventListener('click', () => edit(db, row.id));
  byId('rows').prepend(line);
  while (byId('rows').childElementCount > MOST_ROWS) {
    byId('rows').lastElementChild.remove();
  }
  showCount(shown + 1);
});

changes.addEventListener('subscription', ({detail: subscription}) => {
  const {id, at, state, rows, reason} = subscription;
  const card = cards.get(id) ?? addCard(subscription);
  card.state.textContent = state;
  card.state.dataset.state = state;
  card.token.textContent = `${rows} rows, at ${at}`;
  card.token.title = at;
  card.reason.textContent = reason;
  remember();
});

function addCard({id, db}) {
  const box = element('article', `card subscription ${hue(id)}`);
  box.id = `subscription-${id}`;
  const head = element('header');
  const state = element('span', 'state');
  const close = element('button', '', 'Unsubscribe');
  close.type = 'button';
  close.addEventListener('click', () => {
    changes.unsubscribe(id);
    cards.delete(id);
    box.remove();
    remember();
  });
  head.append(element('strong', '', `${id} · ${names(db)}`), state, close);
  const token = element('span', 'token');
  const reason = element('span', 'hint');
  box.append(head, token, reason);
  byId('subscriptions').append(box);
  const card = {state, token, reason};
  cards.set(id, card);
  return card;
}

function remember() {
  const kept = changes.subscriptions
      .filter(it => !it.over)
      .map(({id, db, at}) => ({id, db, at}));
  sessionStorage.setItem(REMEMBERED, JSON.stringify(kept));
}

function showCount(rows) {
  shown = rows;
  byId('count').textContent = rows === 1 ? '1 row' : `${rows} rows`;
  byId('empty').hidden = rows > 0;
}

// --- The forms ---

byId('subscribe').addEventListener('submit', event => {
  event.preventDefault();
  const wanted = byId('databases').value.split(/[\s,]+/).filter(Boolean);
  if (wanted.length > 0) {
    const since = new FormData(event.target).get('since');
    changes.subscribe(`s${nextId++}`, wanted.length === 1 ? wanted[0] : wanted, since);
    byId('databases').value = '';
  }
});

byId('clear').addEventListener('click', () => {
  byId('rows').replaceChildren();
  showCount(0);
});

byId('drop').addEventListener('click', () => changes.drop());

const urlOf = (db, id) => new URL(`${encodeURIComponent(db)}/${encodeURIComponent(id)}`, root);

async function ask(url, options) {
  const response = await fetch(url, options);
  const answer = await response.json();
  if (!response.ok) {
    throw Object.assign(new Error(answer.reason), {status: response.status});
  }
  return answer;
}

function note(text, bad) {
  byId('written').textContent = text;
  byId('written').toggleAttribute('data-bad', Boolean(bad));
}

async function guarded(work) {
  try {
    note(await work());
  } catch (failure) {
    note(failure.message, true);
  }
}

function edit(db, id) {
  guarded(async () => {
    byId('db').value = db;
    byId('doc').value = id;
    const document = await ask(urlOf(db, id));
    byId('json').value = JSON.stringify(document, null, 2);
    byId('json').focus({preventScroll: true});
    return `This is ${document._rev}.`;
  });
}

byId('editor').addEventListener('submit', event => {
  event.preventDefault();
  guarded(async () => {
    const db = byId('db').value.trim();
    const id = byId('doc').value;
    const body = JSON.parse(byId('json').value);
    const {rev} = await write(db, id, body);
    byId('json').value = JSON.stringify({...body, _id: id, _rev: rev}, null, 2);
    return `Saved as ${rev}.`;
  });
});

/** A database that is missing is created. */
async function write(db, id, body) {
  const put = () => ask(urlOf(db, id), {method: 'PUT', body: JSON.stringify(body)});
  try {
    return await put();
  } catch (failure) {
    if (failure.status !== 404 || failure.message !== 'Database does not exist.') {
      throw failure;
    }
    await ask(new URL(encodeURIComponent(db), root), {method: 'PUT'});
    showDatabases();
    return put();
  }
}

byId('delete').addEventListener('click', () => guarded(async () => {
  const url = urlOf(byId('db').value.trim(), byId('doc').value);
  const {_rev} = await ask(url);
  url.searchParams.set('rev', _rev);
  const {rev} = await ask(url, {method: 'DELETE'});
  return `Deleted with ${rev}.`;
}));

async function showDatabases() {
  const all = await ask(new URL('_all_dbs?limit=50', root));
  byId('known').replaceChildren(...all.map(name => {
    const chip = element('button', '', name);
    chip.type = 'button';
    chip.addEventListener('click', () => {
      const before = byId('databases').value.trim();
      byId('databases').value = before ? `${before}, ${name}` : name;
    });
    return chip;
  }));
}

for (const {id, db, at} of JSON.parse(sessionStorage.getItem(REMEMBERED) ?? '[]')) {
  nextId = Math.max(nextId, Number(id.slice(1)) + 1);
  changes.subscribe(id, db, at);
}
showDatabases();
