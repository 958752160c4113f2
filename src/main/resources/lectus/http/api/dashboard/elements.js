export const byId = id => document.getElementById(id);

/** Text is only ever set as text: names and ids come from whoever writes documents. */
export function element(name, className, text) {
  const made = document.createElement(name);
  made.className = className ?? '';
  made.textContent = text ?? '';
  return made;
}

export function button(text, action) {
  const made = element('button', '', text);
  made.type = 'button';
  made.title = text;
  made.addEventListener('click', action);
  return made;
}

/**
 * The entries of a list, by name. As long as the names are the same, entries stay where they are:
 * somebody may be about to click on one.
 */
export class Entries {
  #list;
  #byName = new Map();

  constructor(list) {
    this.#list = list;
  }

  /** make: makes the entry of a name. Returns all entries. */
  show(names, make) {
    const isSame = names.length === this.#byName.size && names.every(name => this.#byName.has(name));
    if (!isSame) {
      this.#byName = new Map(names.map(name => [name, this.#byName.get(name) ?? make(name)]));
      this.#replace([...this.#byName.values()]);
    }
    return this.#byName;
  }

  #replace(entries) {
    const focused = document.activeElement;
    const hadFocus = this.#list.contains(focused);
    this.#list.replaceChildren(...entries);
    if (hadFocus) {
      focused.focus();
    }
  }
}

/** Says something where it is seen, and read out; empty: nothing. */
export function note(id, text, isBad = false) {
  const place = byId(id);
  if (place.textContent !== text) {
    place.textContent = text;
  }
  place.hidden = text === '';
  place.toggleAttribute('data-bad', isBad);
}

/** A number as people read it. */
export function readable(number) {
  if (number === null) {
    return '–';
  }
  const digits = number >= 100 || number === 0 ? 0 : number >= 10 ? 1 : 2;
  return number.toLocaleString('en', {maximumFractionDigits: digits});
}
