import {byId, element, note} from './elements.js';
import {every, json, nameInPath, send} from './server.js';

const LOOK_MILLIS = 2_000;
const MOST_CELLS = 128;
const MOST_GENERATIONS = 64;
const MOST_NAMES = 200;

/** The generations of one database's changes shards, the latest first. */
export class Shards {
  #name = '';
  #latest;
  #isRefused = true;

  constructor() {
    byId('choose').addEventListener('submit', event => {
      event.preventDefault();
      this.choose(byId('db').value);
    });
    byId('reshard').addEventListener('submit', event => {
      event.preventDefault();
      this.#reshard(Number(byId('number').value));
    });
    byId('db').addEventListener('focus', () => this.#suggest());
    every(LOOK_MILLIS, () => this.#look());
  }

  choose(name) {
    this.#name = name;
    this.#latest = undefined;
    this.#isRefused = name === '';
    byId('db').value = name;
    byId('generations').replaceChildren();
    byId('reshard').hidden = true;
    note('shards-note', name === '' ? 'Choose a database.' : '');
    return this.#look();
  }

  async #suggest() {
    const names = await json(`_all_dbs?limit=${MOST_NAMES}`).catch(() => []);
    byId('known').replaceChildren(...names.map(name => {
      const option = element('option');
      option.value = name;
      return option;
    }));
  }

  get #path() {
    return `${nameInPath(this.#name)}/_changes/_meta`;
  }

  async #look() {
    const name = this.#name;
    if (this.#isRefused) {
      return;
    }
    try {
      const {generations} = await json(this.#path);
      if (name === this.#name) {
        this.#show(generations);
      }
    } catch (failure) {
      this.#fail(name, failure);
    }
  }

  /** A database that is not there, or is not to be seen, is not asked for again. */
  #fail(name, failure) {
    if (name === this.#name) {
      this.#isRefused = failure.status !== undefined && failure.status < 500;
      byId('reshard').hidden ||= this.#isRefused;
      note('shards-note', failure.message, true);
    }
  }

  #show(generations) {
    const latest = generations.at(-1);
    if (this.#latest && this.#latest.since !== latest.since) {
      note('shards-note',
          `Resharded: from ${this.#latest.shards.length} to ${latest.shards.length}.`);
    }
    if (this.#latest?.since !== latest.since) {
      byId('generations').replaceChildren(
          ...generations.slice(-MOST_GENERATIONS).reverse().map(entryOf));
      byId('reshard').hidden = false;
    }
    this.#latest = latest;
  }

  async #reshard(shards) {
    try {
      await send('PUT', this.#path, {shards});
      await this.#look();
    } catch (failure) {
      note('shards-note', failure.message, true);
    }
  }
}

function entryOf({since, until, shards}) {
  const isCurrent = until === null;
  const entry = element('li', isCurrent ? 'current' : '');
  const many = shards.length === 1 ? '1 shard' : `${shards.length} shards`;
  const which = shards.length === 1 ? shards[0] : `${shards[0]} to ${shards.at(-1)}`;
  const cells = element('div', 'cells');
  cells.setAttribute('aria-hidden', 'true');
  cells.append(...shards.slice(0, MOST_CELLS).map(() => element('span')));
  entry.append(
      element('p', '', `${many} (${which}), ${isCurrent ? 'in use' : 'replaced'}`),
      cells,
      element('span', 'token', since === '0' ? 'from the beginning' : `from ${since}`));
  return entry;
}
