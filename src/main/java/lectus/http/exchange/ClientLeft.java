package lectus.http.exchange;

/** Why work was not done: its client has left. It has no stack trace: it is no defect. */
final class ClientLeft extends RuntimeException {
  ClientLeft() {
    super("The client has left.", null, false, false);
  }
}
