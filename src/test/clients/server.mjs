// The server under test; ClientsTest starts it and says where it is.
export const serverUrl = (process.env.LECTUS_URL ?? 'http://127.0.0.1:5984').replace(/\/$/, '');

let counter = 0;

/** A database name that no other test uses. */
export function freshName(prefix) {
  counter += 1;
  return `${prefix}-${process.pid}-${counter}`;
}
