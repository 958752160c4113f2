import {element, readable} from './elements.js';

const SVG = 'http://www.w3.org/2000/svg';
const MOST_POINTS = 180;
const WIDTH = MOST_POINTS - 1;
const HEIGHT = 100;

function shape(name, attributes) {
  const made = document.createElementNS(SVG, name);
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  return made;
}

/** The next of 1, 2, 5, 10, 20, … */
function roundedUp(most) {
  const power = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 5, 10].map(step => step * power).find(step => step >= most);
}

/** Lines over time. It keeps the latest values and forgets earlier ones. */
export class Plot {
  #title;
  #unit;
  #lines;
  #svg = shape('svg', {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img'});
  #top = element('span', 'top');

  /** names: of the lines. */
  constructor(title, unit, names) {
    this.#title = title;
    this.#unit = unit;
    this.#svg.append(shape('path', {class: 'grid-line', d: `M0 ${HEIGHT / 2}H${WIDTH}`}));
    this.#lines = names.map((name, i) => this.#line(name, `hue-${i}`));
    this.#draw();
  }

  #line(name, hue) {
    const path = shape('path', {class: hue, d: ''});
    this.#svg.append(path);
    const entry = element('li', hue, `${name} `);
    const latest = element('strong', '', '–');
    entry.append(latest);
    return {name, path, entry, latest, values: []};
  }

  get figure() {
    const figure = element('figure', 'plot');
    const caption = element('figcaption', '', this.#title);
    caption.append(this.#top);
    const legend = element('ul', 'legend');
    legend.append(...this.#lines.map(line => line.entry));
    figure.append(caption, this.#svg, legend);
    return figure;
  }

  clear() {
    this.#lines.forEach(line => line.values.splice(0));
    this.#draw();
  }

  /** One value for each line; null where there is none. */
  add(values) {
    this.#lines.forEach((line, i) => {
      line.values.push(values[i]);
      line.values.splice(0, line.values.length - MOST_POINTS);
    });
    this.#draw();
  }

  #draw() {
    const most = Math.max(0, ...this.#lines.flatMap(line => line.values.filter(it => it !== null)));
    const top = most === 0 ? 1 : roundedUp(most);
    this.#top.textContent = `${readable(top)} ${this.#unit}`;
    for (const {values, path, latest} of this.#lines) {
      path.setAttribute('d', pathOf(values, top));
      latest.textContent = `${readable(values.at(-1) ?? null)} ${this.#unit}`;
    }
    this.#svg.setAttribute('aria-label', this.#inWords());
  }

  #inWords() {
    const lines = this.#lines.map(({name, values}) =>
      `${name}: now ${readable(values.at(-1) ?? null)}, at most ${readable(Math.max(0, ...values))}`);
    return `${this.#title}, ${this.#unit}. ${lines.join('. ')}.`;
  }
}

/** The latest value is at the right; where there is none, the line has a gap. */
function pathOf(values, top) {
  const left = MOST_POINTS - values.length;
  let isOpen = false;
  return values.map((value, i) => {
    if (value === null) {
      isOpen = false;
      return '';
    }
    const point = `${left + i} ${(HEIGHT * (1 - value / top)).toFixed(1)}`;
    // A point alone would not be seen.
    const drawn = isOpen ? `L${point}` : `M${point}h0.5`;
    isOpen = true;
    return drawn;
  }).join('');
}
