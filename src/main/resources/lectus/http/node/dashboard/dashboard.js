import {byId, element, note} from './elements.js';
import {Feed} from './feed.js';
import {Figures, Interval} from './figures.js';
import {Plot} from './plot.js';
import {every, json, send, text} from './server.js';
import {Shards} from './shards.js';

const FIGURES_MILLIS = 1_000;
const TASKS_MILLIS = 2_000;
const MEMBERS_MILLIS = 10_000;
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

let earlier;

async function readFigures() {
  try {
    const later = new Figures(await text('_node/_local/_prometheus'), performance.now());
    if (earlier) {
      const interval = new Interval(earlier, later);
      PLOTS.forEach(({plot, read}) => plot.add(read(interval)));
    }
    earlier = later;
    note('figures-note', '');
  } catch (failure) {
    earlier = undefined;
    note('figures-note',
        failure.isForOthers ? 'Figures are shown to admins and to users with the role _metrics.'
          : failure.status ? failure.message
            : 'The server does not answer.',
        true);
  }
}

// --- Tasks and members ---

function taskEntry({type, database, progress, changes_done: done}) {
  const entry = element('li');
  entry.append(element('strong', '', String(type)));
  if (database) {
    entry.append(element('span', '', String(database)));
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

async function list(id, path, entriesOf, nothing) {
  let entries;
  try {
    entries = entriesOf(await json(path));
  } catch (failure) {
    entries = [element('li', 'hint',
        failure.isForOthers ? 'Shown to admins.' : failure.status ? failure.message : 'No answer.')];
  }
  byId(id).replaceChildren(...(entries.length > 0 ? entries : [element('li', 'hint', nothing)]));
}

const readTasks = () => list('tasks', '_active_tasks',
    tasks => tasks.slice(0, MOST_ENTRIES).map(taskEntry), 'None.');

const readMembers = () => list('members', '_membership',
    ({all_nodes: names}) => names.slice(0, MOST_ENTRIES).map(name => element('li', '', name)), 'None.');

// --- Who looks ---

const shards = new Shards();
const feed = new Feed(name => shards.choose(name));

async function showSession() {
  const {userCtx: {name, roles}} = await json('_session');
  byId('log-in').hidden = name !== null || roles.includes('_admin');
  byId('logged-in').hidden = !byId('log-in').hidden;
  byId('log-out').hidden = name === null;
  byId('who').textContent = name ?? 'There is no admin: everybody may do everything.';
}

/** All of the page, as whoever is logged in now sees it. */
async function lookAnew() {
  feed.reopen();
  await Promise.all([showSession(), readFigures(), readTasks(), readMembers()]);
}

byId('log-in').addEventListener('submit', async event => {
  event.preventDefault();
  try {
    await send('POST', '_session', {name: byId('name').value, password: byId('password').value});
    note('refused', '');
    await lookAnew();
  } catch (failure) {
    note('refused', failure.message, true);
  } finally {
    byId('password').value = '';
  }
});

byId('log-out').addEventListener('click', async () => {
  await send('DELETE', '_session').catch(() => {});
  await lookAnew().catch(() => {});
});

async function showServer() {
  const {vendor} = await json('');
  byId('server').textContent = `${vendor.name} ${vendor.version} at ${location.host}`;
}

byId('plots').append(...PLOTS.map(({plot}) => plot.figure));
feed.follow(['*']);
showServer().catch(() => {});
showSession().catch(failure => note('refused', failure.message, true));
every(FIGURES_MILLIS, readFigures);
every(TASKS_MILLIS, readTasks);
every(MEMBERS_MILLIS, readMembers);
