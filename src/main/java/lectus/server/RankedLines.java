package lectus.server;

import java.util.List;

/**
 * Lines of which the earlier ones are served first. One that was passed over again and again comes
 * first once, so that none starves. For one thread at a time.
 */
final class RankedLines {
  /** How often in a row a line is passed over at most, but for others that wait as long. */
  static final int PATIENCE = 7;

  private final List<ClientLine> lines;

  RankedLines(ClientLine... lines) {
    this.lines = List.of(lines);
  }

  boolean isEmpty() {
    for (ClientLine line : lines) {
      if (!line.isEmpty()) {
        return false;
      }
    }
    return true;
  }

  /** Work of the line whose turn it is; not if all are empty. */
  Runnable take() {
    ClientLine chosen = null;
    for (ClientLine line : lines) {
      if (!line.isEmpty() && (chosen == null || isOverdue(line, chosen))) {
        chosen = line;
      }
    }
    for (ClientLine line : lines) {
      if (line != chosen && !line.isEmpty()) {
        line.passOver();
      }
    }
    return chosen.take();
  }

  private static boolean isOverdue(ClientLine line, ClientLine chosen) {
    return line.passedOver() >= PATIENCE && line.passedOver() > chosen.passedOver();
  }
}
