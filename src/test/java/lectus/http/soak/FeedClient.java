package lectus.http.soak;

import java.util.List;
import java.util.Optional;

/** A client of one live feed, in any form. */
interface FeedClient extends AutoCloseable {

  /**
   * The next rows; none for a heartbeat.
   *
   * @param end the last sequence, if the feed ended in order
   */
  record Event(List<SeenRow> rows, Optional<String> end) {
    static final Event NOTHING = new Event(List.of(), Optional.empty());

    static Event ended(String last) {
      return new Event(List.of(), Optional.of(last));
    }
  }

  /** Waits for the next event. */
  Event next();

  /** Drops the connection, whatever is on its way. */
  @Override
  void close();
}
