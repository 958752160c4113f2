// The server under test; ClientsTest starts it and says where it is.
export const serverUrl = (process.env.LECTUS_URL ?? 'http://127.0.0.1:5984').replace(/\/$/, '');

// The same with a name and a password in it, of which some have to be decoded.
export const user = { name: 'jan', password: 'p@ss word/&' };
export const serverUrlOfUser = serverUrl.includes('@')
  ? serverUrl
  : serverUrl.replace('//', `//${user.name}:${encodeURIComponent(user.password)}@`);

let counter = 0;

/** A database name that no other test uses. */
export function freshName(prefix) {
  counter += 1;
  return `${prefix}-${process.pid}-${counter}`;
}
