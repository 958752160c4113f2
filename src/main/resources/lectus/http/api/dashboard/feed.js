import {ChangesSocket} from './changes-socket.js';
import {button, byId, element, Entries, note, readable} from './elements.js';
import {socketUrl} from './server.js';

const MOST_ROWS = 100;
const MOST_NAMES = 500;
const MOST_SHOWN = 8;
const DRAW_MILLIS = 250;
const COUNT_MILLIS = 1_000;
/** How much of a rate is kept from one second to the next. */
const KEPT = 0.7;
const SMALLEST_RATE = 0.05;
const HUES = 6;
const BEGINNING = 'Asking for changes …';
const WAITING = 'Whatever is written appears here.';

/** How many rows a second each database has, of those that have some. */
class Rates {
  #counts = new Map();
  #rates = new Map();

  count(name) {
    if (this.#counts.has(name) || this.#counts.size < MOST_NAMES) {
      this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    }
  }

  /** Ends a second; returns the highest rates. */
  next() {
    const names = new Set([...this.#rates.keys(), ...this.#counts.keys()]);
    const rates = [...names]
        .map(name => [name, this.#rateOf(name)])
        .filter(([, rate]) => rate > SMALLEST_RATE)
        .sort(([, one], [, other]) => other - one)
        .slice(0, MOST_NAMES);
    this.#rates = new Map(rates);
    this.#counts.clear();
    return rates.slice(0, MOST_SHOWN);
  }

  #rateOf(name) {
    return KEPT * (this.#rates.get(name) ?? 0) + (1 - KEPT) * (this.#counts.get(name) ?? 0);
  }
}

/**
 * The changes of many databases as they come. Rows that come faster than they can be read are
 * counted and not shown, so a page that stays open for days holds no more than a new one.
 */
export class Feed {
  #socket = new ChangesSocket(socketUrl());
  #rates = new Rates();
  #busiest = new Entries(byId('busiest'));
  #waiting = [];
  #number = 0;
  #databases;
  #told;
  #isPaused = false;
  #choose;

  /** choose: is called with the name of a database that somebody wants to see. */
  constructor(choose) {
    this.#choose = choose;
    this.#socket.addEventListener('state', ({detail}) => this.#showState(detail));
    this.#socket.addEventListener('row', ({detail}) => this.#take(detail));
    this.#socket.addEventListener('subscription', ({detail}) => this.#tell(detail));
    byId('pause').addEventListener('click', () => this.#pause(!this.#isPaused));
    byId('follow').addEventListener('submit', event => {
      event.preventDefault();
      this.follow(byId('databases').value.split(/[\s,]+/).filter(Boolean));
    });
    setInterval(() => this.#draw(), DRAW_MILLIS);
    setInterval(() => this.#drawRates(), COUNT_MILLIS);
  }

  /** Rows that are written from now on. */
  follow(databases) {
    if (this.#number > 0) {
      this.#socket.unsubscribe(this.#id);
    }
    this.#number++;
    this.#databases = databases;
    this.#told = undefined;
    this.#socket.subscribe(this.#id, databases, 'now');
  }

  /** As somebody else: a socket belongs to whoever opened it. */
  reopen() {
    this.#socket.reopen();
    this.follow(this.#databases);
  }

  /** Nothing is asked for until it is opened again. */
  close() {
    this.#socket.close();
    this.#waiting = [];
    byId('rows').replaceChildren();
  }

  get #id() {
    return `d${this.#number}`;
  }

  #showState(state) {
    byId('status').textContent = {waiting: 'reconnecting'}[state] ?? state;
    byId('status').dataset.state = state;
  }

  #take({id, db, row}) {
    if (id !== this.#id) {
      return;
    }
    this.#rates.count(db);
    if (!this.#isPaused) {
      this.#waiting.push({db, row});
      this.#waiting.splice(0, this.#waiting.length - MOST_ROWS);
    }
  }

  #tell({id, state, reason, rows}) {
    const isBad = state === 'failed';
    const said = isBad ? reason : rows > 0 ? '' : state === 'caught up' ? WAITING : BEGINNING;
    if (id === this.#id && said !== this.#told) {
      this.#told = said;
      note('feed-note', said, isBad);
    }
  }

  #pause(isPaused) {
    this.#isPaused = isPaused;
    byId('pause').setAttribute('aria-pressed', isPaused);
    byId('pause').textContent = isPaused ? 'Go on' : 'Pause';
  }

  #draw() {
    const rows = this.#waiting.splice(0).reverse().map(lineOf);
    byId('rows').prepend(...rows);
    while (byId('rows').childElementCount > MOST_ROWS) {
      byId('rows').lastElementChild.remove();
    }
  }

  #drawRates() {
    const rates = this.#rates.next();
    const entries = this.#busiest.show(rates.map(([name]) => name), name => this.#entryOf(name));
    rates.forEach(([name, rate]) => {
      entries.get(name).lastElementChild.textContent = readable(rate);
    });
  }

  #entryOf(name) {
    const entry = element('li');
    entry.append(button(name, () => this.#choose(name)), element('span'));
    return entry;
  }
}

/** Each database keeps its colour. */
function hueOf(db) {
  const sum = [...db].reduce((hash, letter) => (31 * hash + letter.codePointAt(0)) % 9973, 0);
  return `hue-${sum % HUES}`;
}

function lineOf({db, row}) {
  const line = element('tr', `fresh ${hueOf(db)}${row.deleted ? ' deleted' : ''}`);
  const id = element('td', '', row.id);
  id.title = row.id;
  line.append(element('td', '', db), id, element('td', '', row.changes[0].rev));
  return line;
}
