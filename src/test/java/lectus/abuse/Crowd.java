package lectus.abuse;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The connections of one attack: a constant number, whatever the server does to them. */
final class Crowd implements AutoCloseable {
  private static final int NEW_IN_A_TURN = 200;

  private final int size;
  private final Supplier<Line> opening;
  private final List<Line> lines = new ArrayList<>();

  /**
   * @param opening creates a connection that has something to send
   */
  Crowd(int size, Supplier<Line> opening) {
    this.size = size;
    this.opening = opening;
  }

  /**
   * Gives each connection a turn, and replaces those that are over.
   *
   * @param mostRead the most bytes that each reads
   */
  void turn(int mostRead) {
    lines.forEach(line -> line.turn(mostRead));
    lines.stream().filter(Line::isOver).forEach(Line::close);
    lines.removeIf(Line::isOver);
    for (int i = 0; i < NEW_IN_A_TURN && lines.size() < size; i++) {
      lines.add(opening.get());
    }
  }

  void forEach(Consumer<Line> what) {
    lines.forEach(what);
  }

  @Override
  public void close() {
    lines.forEach(Line::close);
  }
}
