const PATIENCE_MILLIS = 10_000;

export const root = new URL('..', location.href);

/** The address of the socket of changes. */
export function socketUrl() {
  const url = new URL('_changes', root);
  url.protocol = root.protocol === 'https:' ? 'wss:' : 'ws:';
  return url.href;
}

export const nameInPath = name => encodeURIComponent(name);

/** An answer that is no success. Its message is a sentence of the server. */
export class Refused extends Error {
  constructor(status, reason) {
    super(reason);
    this.status = status;
  }

  /** Whether another user might have been answered. */
  get isForOthers() {
    return this.status === 401 || this.status === 403;
  }
}

async function answerTo(path, options) {
  const answer = await fetch(new URL(path, root), {
    ...options,
    cache: 'no-store',
    signal: AbortSignal.timeout(PATIENCE_MILLIS),
  });
  if (!answer.ok) {
    const {reason} = await answer.json().catch(() => ({}));
    throw new Refused(answer.status, reason ?? `The server answered ${answer.status}.`);
  }
  return answer;
}

export const text = async path => (await answerTo(path)).text();
export const json = async path => (await answerTo(path)).json();

/** Sends JSON, and returns the answer's. */
export async function send(method, path, body) {
  const answer = await answerTo(path, {
    method,
    headers: {'Content-Type': 'application/json'},
    body: body && JSON.stringify(body),
  });
  return answer.json();
}

/** Works now and then, one time after the other, as long as somebody looks at the page. */
export function every(millis, work) {
  const again = async () => {
    try {
      if (!document.hidden) {
        await work();
      }
    } finally {
      setTimeout(again, millis);
    }
  };
  again();
}
