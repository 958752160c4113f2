import {button, byId, element, Entries, note} from './elements.js';
import {Feed} from './feed.js';
import {Figures, Interval} from './figures.js';
import {Plot} from './plot.js';
import {every, json, nameInPath, send, text} from './server.js';
import {Shards} from './shards.js';

const FIGURES_MILLIS = 1_000;
/** Rates over less would jump. */
const SHORTEST_MILLIS = 300;
const TASKS_MILLIS = 2_000;
const MEMBERS_MILLIS = 10_000;
const AGAIN_MILLIS = 3_000;
const MOST_ENTRIES = 100;

/** Not the page's own. */
const ofDatabases = ({route}) => route.startsWith('/{db}');

/** Half of the values, and all but one in a hundred, in milliseconds. */
const times = (name, isMeant) => interval =>
  [0.5, 0.99].map(share => {
    const seconds = interval.quantile(name, share, isMeant);
    return seconds === null ? null : seconds * 1000;
  });

const PLOTS = [
  {
    plot: new Plot('Throughput', '/s', ['requests', 'commits', 'rows to feeds']),
    read: interval => [
      interval.perSecond('lectus_http_requests_total', ofDatabases),
      interval.perSecond('lectus_commit_seconds_count'),
      interval.perSecond('lectus_feed_rows_total'),
    ],
  },
  {
    plot: new Plot('Latency of requests', 'ms', ['half', '99 %']),
    read: times('lectus_http_request_seconds', ofDatabases),
  },
  {
    plot: new Plot('Delivery lag', 'ms', ['half', '99 %']),
    read: times('lectus_feed_delivery_lag_seconds'),
  },
  {
    plot: new Plot('Time to commit', 'ms', ['half', '99 %']),
    read: times('lectus_commit_seconds'),
  },
];

// --- Figures ---

/** Whose figures are shown; that of the server that answers, until one is chosen. */
let member = '_local';
let earlier;

function choose(name) {
  member = name;
  earlier = undefined;
  byId('whose').textContent = name;
  PLOTS.forEach(({plot}) => plot.clear());
  return Promise.all([readFigures(), readMembers()]);
}

/** What is refused to this user; it is not asked for again before somebody logs in. */
const refused = new Set();

function noteRefusal(work, failure) {
  if (failure.isForOthers) {
    refused.add(work);
  }
}

async function readFigures() {
  const asked = member;
  try {
    const lines = await text(`_node/${nameInPath(asked)}/_prometheus`);
    const later = new Figures(lines, performance.now());
    if (asked !== member || later.millis - earlier?.millis < SHORTEST_MILLIS) {
      return;
    }
    if (earlier) {
      const interval = new Interval(earlier, later);
      PLOTS.forEach(({plot, read}) => plot.add(read(interval)));
    }
    earlier = later;
    note('figures-note', '');
    byId('plots').hidden = false;
  } catch (failure) {
    earlier = undefined;
    note('figures-note',
        failure.isForOthers ? 'Figures are shown to admins and to users with the role _metrics.'
          : failure.status ? failure.message
            : 'The server does not answer.',
        true);
    noteRefusal(readFigures, failure);
    byId('plots').hidden = failure.isForOthers === true;
  }
}

// --- Tasks and members ---

function taskEntry({type, database, design_document: design, progress, changes_done: done}) {
  const entry = element('li');
  entry.append(element('strong', '', String(type)));
  if (database) {
    entry.append(element('span', '', String(database)));
  }
  if (design) {
    entry.append(element('span', '', String(design)));
  }
  if (typeof progress === 'number') {
    const bar = element('progress', '', `${progress} %`);
    bar.max = 100;
    bar.value = progress;
    bar.setAttribute('aria-label', `${type}: ${progress} %`);
    entry.append(bar, element('span', '', `${progress} %`));
  } else if (typeof done === 'number') {
    entry.append(element('span', '', `${done} done`));
  }
  return entry;
}

const excuse = failure =>
  failure.isForOthers ? 'Shown to admins.' : failure.status ? failure.message : 'No answer.';

async function readTasks() {
  let entries;
  try {
    entries = (await json('_active_tasks')).slice(0, MOST_ENTRIES).map(taskEntry);
    note('tasks-note', entries.length === 0 ? 'None.' : '');
  } catch (failure) {
    entries = [];
    note('tasks-note', excuse(failure));
    noteRefusal(readTasks, failure);
  }
  byId('tasks').replaceChildren(...entries);
}

const members = new Entries(byId('members'));

function memberEntry(name) {
  const entry = element('li');
  entry.append(button(name, () => choose(name)));
  return entry;
}

async function readMembers() {
  let names;
  try {
    names = (await json('_membership')).all_nodes.slice(0, MOST_ENTRIES);
    note('members-note', 'Choose whose figures are shown.');
  } catch (failure) {
    names = [];
    note('members-note', excuse(failure));
    noteRefusal(readMembers, failure);
  }
  members.show(names, memberEntry).forEach((entry, name) =>
    entry.firstElementChild.setAttribute('aria-pressed', name === member));
}

// --- Who looks ---

const shards = new Shards();
let feed;
let isOpen = false;

async function session() {
  try {
    return (await json('_session')).userCtx;
  } catch (failure) {
    if (failure.status === 401) {
      return {name: null, roles: []};
    }
    throw failure;
  }
}

async function showSession() {
  const {name, roles} = await session();
  const isIn = name !== null || roles.includes('_admin');
  byId('logged-in').hidden = !isIn;
  byId('log-out').hidden = name === null;
  byId('who').textContent = name ?? 'There is no admin: everybody may do everything.';
  if (!isIn) {
    close();
  } else if (!isOpen) {
    await open();
  }
}

/** Asks for everything, as whoever is logged in now. */
function open() {
  isOpen = true;
  earlier = undefined;
  PLOTS.forEach(({plot}) => plot.clear());
  refused.clear();
  show();
  if (feed) {
    feed.reopen();
  } else {
    feed = new Feed(name => shards.choose(name));
    feed.follow(['*']);
  }
  return Promise.all(POLLS.map(poll => poll()));
}

/** Asks for nothing until somebody logs in. */
function close() {
  isOpen = false;
  feed?.close();
  shards.choose('');
  show();
}

function show() {
  byId('entrance').hidden = isOpen;
  byId('dashboard').hidden = !isOpen;
  byId('status').hidden = !isOpen;
}

byId('log-in').addEventListener('submit', async event => {
  event.preventDefault();
  try {
    await send('POST', '_session', {name: byId('name').value, password: byId('password').value});
    note('refused', '');
    await showSession();
  } catch (failure) {
    note('refused', failure.message, true);
  } finally {
    byId('password').value = '';
  }
});

byId('log-out').addEventListener('click', async () => {
  await send('DELETE', '_session').catch(() => {});
  await showSession().catch(() => {});
});

async function showServer() {
  const {vendor} = await json('');
  byId('server').textContent = `${vendor.name} ${vendor.version} at ${location.host}`;
}

async function begin() {
  try {
    await showSession();
    note('refused', '');
  } catch (failure) {
    close();
    note('refused', failure.status ? failure.message : 'The server does not answer.', true);
    setTimeout(begin, AGAIN_MILLIS);
  }
}

const poll = work => async () => {
  if (isOpen && !refused.has(work)) {
    await work();
  }
};
const POLLS = [readFigures, readTasks, readMembers].map(poll);

byId('plots').append(...PLOTS.map(({plot}) => plot.figure));
showServer().catch(() => {});
begin();
[FIGURES_MILLIS, TASKS_MILLIS, MEMBERS_MILLIS].forEach((millis, i) => every(millis, POLLS[i]));
// A session may end.
every(MEMBERS_MILLIS, poll(() => showSession().catch(() => {})));
