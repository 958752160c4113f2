package lectus.server.turn;

import java.util.List;

/**
 * Lines in order of priority. One that was passed over too often comes first once, so that none
 * starves. For one thread at a time.
 */
final class RankedLines {
  /** How often in a row a line may be passed over, unless others have waited as long. */
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

  /** Returns work of the line whose turn it is; not all lines may be empty. */
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
