package lectus.abuse.fuzz;

/** Bytes that no well-behaved client sends, from a seed. */
public final class Malformed {
  private final RawRequests requests;
  private final Messages messages;

  public Malformed(long seed) {
    Dice dice = new Dice(seed);
    Seen seen = new Seen();
    requests = new RawRequests(dice, new Requests(dice, seen));
    messages = new Messages(dice, seen);
  }

  /** Returns bytes to send instead of a request. */
  public byte[] next() {
    return requests.next().bytes();
  }

  /** Returns bytes to send instead of a frame of {@code lectus.changes.v1}. */
  public byte[] nextFrame() {
    return messages.last();
  }
}
