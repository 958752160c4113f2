/** How many rows a subscription may be sent before the page has shown earlier ones. */
const CREDITS = 200;
const FIRST_PAUSE_MILLIS = 500;
const LONGEST_PAUSE_MILLIS = 15_000;

/**
 * One WebSocket for any number of subscriptions. When it is lost, it comes back by itself, and every
 * subscription goes on behind the last row it had.
 *
 * Events: "state" (connecting, live, waiting), "row", "subscription" (something about one changed).
 */
export class ChangesSocket extends EventTarget {
  #url;
  #socket;
  #attempts = 0;
  #timer;
  #subscriptions = new Map();

  constructor(url) {
    super();
    this.#url = url;
    this.#connect();
  }

  get subscriptions() {
    return [...this.#subscriptions.values()];
  }

  /** db: a name, a pattern, or a list of these. since: "0", "now", or a resume token. */
  subscribe(id, db, since) {
    const subscription = {id, db, at: since, state: 'reading', over: false, rows: 0, reason: ''};
    this.#subscriptions.set(id, subscription);
    this.#open(subscription);
    this.#changed(subscription);
  }

  unsubscribe(id) {
    this.#subscriptions.delete(id);
    this.#send({type: 'unsubscribe', id});
  }

  /** Closes the socket, as a network that fails would. */
  drop() {
    this.#socket.close();
  }

  /** Closes the socket until it is opened again. */
  close() {
    clearTimeout(this.#timer);
    Object.assign(this.#socket, {onopen: null, onmessage: null, onclose: null});
    this.#socket.close();
  }

  /** Opens another socket at once, say because somebody has logged in. */
  reopen() {
    this.close();
    this.#attempts = 0;
    this.#connect();
  }

  #connect() {
    this.#tell('state', 'connecting');
    this.#socket = new WebSocket(this.#url, 'lectus.changes.v1');
    this.#socket.onopen = () => {
      this.#attempts = 0;
      this.#tell('state', 'live');
      this.subscriptions.filter(it => !it.over).forEach(it => this.#open(it));
    };
    this.#socket.onmessage = event => this.#take(JSON.parse(event.data));
    this.#socket.onclose = () => this.#comeBack();
  }

  /** Each time later, and not all clients of a server at once. */
  #comeBack() {
    const longest = Math.min(LONGEST_PAUSE_MILLIS, FIRST_PAUSE_MILLIS * 2 ** this.#attempts++);
    this.#tell('state', 'waiting');
    this.#timer = setTimeout(() => this.#connect(), longest * (0.5 + Math.random() / 2));
  }

  #open(subscription) {
    subscription.state = 'reading';
    subscription.unanswered = 0;
    const {id, db, at} = subscription;
    this.#send({type: 'subscribe', id, db, since: at, credits: CREDITS});
  }

  #take(message) {
    const subscription = this.#subscriptions.get(message.id);
    if (!subscription) {
      return;
    }
    subscription.at = message.at ?? subscription.at;
    switch (message.type) {
      case 'row':
        this.#takeRow(subscription, message);
        break;
      case 'caught_up':
        subscription.state = 'caught up';
        break;
      case 'left':
        subscription.reason = `${message.db} was deleted`;
        subscription.over = message.db === subscription.db;
        break;
      case 'error':
        subscription.state = 'failed';
        subscription.over = true;
        subscription.reason = message.reason;
        break;
      case 'end':
        subscription.state = 'ended';
        break;
    }
    this.#changed(subscription);
  }

  #takeRow(subscription, message) {
    subscription.state = 'reading';
    subscription.rows++;
    if (++subscription.unanswered === CREDITS / 2) {
      subscription.unanswered = 0;
      this.#send({type: 'credit', id: subscription.id, n: CREDITS / 2});
    }
    this.#tell('row', message);
  }

  /** What is not sent now is said when the socket opens again. */
  #send(message) {
    if (this.#socket.readyState === WebSocket.OPEN) {
      this.#socket.send(JSON.stringify(message));
    }
  }

  #changed(subscription) {
    this.#tell('subscription', subscription);
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, {detail}));
  }
}
