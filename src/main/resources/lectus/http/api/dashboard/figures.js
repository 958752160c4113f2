const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/;
const STARTED = 'process_start_time_seconds';
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

function number(text) {
  return text === '+Inf' ? Infinity : Number(text);
}

/** A server's figures at one time, in Prometheus' text format. */
export class Figures {
  #samples = new Map();

  constructor(text, millis) {
    this.millis = millis;
    for (const line of text.split('\n')) {
      const [, name, labels, value] = line.match(LINE) ?? [];
      if (name) {
        this.#add(name, {labels: Object.fromEntries(pairs(labels ?? '')), value: number(value)});
      }
    }
  }

  #add(name, sample) {
    const samples = this.#samples.get(name);
    if (samples) {
      samples.push(sample);
    } else {
      this.#samples.set(name, [sample]);
    }
  }

  sum(name, isMeant = () => true) {
    return (this.#samples.get(name) ?? [])
        .filter(sample => isMeant(sample.labels))
        .reduce((sum, sample) => sum + sample.value, 0);
  }

  /** The upper bounds of a histogram with how many values lie below each, of all series together. */
  below(name, isMeant = () => true) {
    const counts = new Map();
    for (const {labels, value} of this.#samples.get(`${name}_bucket`) ?? []) {
      if (isMeant(labels)) {
        const bound = number(labels.le);
        counts.set(bound, (counts.get(bound) ?? 0) + value);
      }
    }
    return counts;
  }
}

function* pairs(labels) {
  for (const [, name, value] of labels.matchAll(LABEL)) {
    yield [name, value];
  }
}

/** What happened between two times, as long as it is the same process that counts: null otherwise. */
export class Interval {
  #earlier;
  #later;
  #isOfOne;

  /** Behind a load balancer another server may have answered, and one that was restarted counts anew. */
  constructor(earlier, later) {
    this.#earlier = earlier;
    this.#later = later;
    this.#isOfOne = earlier.sum(STARTED) === later.sum(STARTED);
  }

  perSecond(name, isMeant) {
    const more = this.#later.sum(name, isMeant) - this.#earlier.sum(name, isMeant);
    return !this.#isOfOne || more < 0 ? null : more * 1000 / (this.#later.millis - this.#earlier.millis);
  }

  /**
   * The value below which a share of a histogram's values lie, told from the bounds between which
   * they are; null if there are none.
   */
  quantile(name, share, isMeant) {
    const before = this.#earlier.below(name, isMeant);
    const below = [...this.#later.below(name, isMeant)]
        .map(([bound, count]) => ({bound, count: count - (before.get(bound) ?? 0)}))
        .sort((one, other) => one.bound - other.bound);
    const all = below.at(-1)?.count ?? 0;
    if (!this.#isOfOne || all <= 0) {
      return null;
    }
    const at = below.findIndex(bucket => bucket.count >= share * all);
    const from = at === 0 ? {bound: 0, count: 0} : below[at - 1];
    const {bound, count} = below[at];
    return bound === Infinity || count === from.count
      ? from.bound
      : from.bound + (bound - from.bound) * (share * all - from.count) / (count - from.count);
  }
}
