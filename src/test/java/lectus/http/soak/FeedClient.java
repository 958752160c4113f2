package lectus.http.soak;

import java.util.List;
import java.util.Optional;

/** A client of one live feed, in whatever form. */
interface FeedClient extends AutoCloseable {

  /**
   * What came next: no rows for a sign of life.
   *
   * @param end the last sequence, when the feed ended in order
   */
  record Event(List<SeenRow> rows, Optional<String> end) {
    static final Event NOTHING = new Event(List.of(), Optional.empty());

    static Event ended(String last) {
      return new Event(List.of(), Optional.of(last));
    }
  }

  /** Waits for it. */
  Event next();

  /** Drops the connection, whatever is on its way. */
  @Override
  void close();
}
