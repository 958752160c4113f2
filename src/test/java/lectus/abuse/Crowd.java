package lectus.abuse;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The connections of one attack: as many as there are to be, whatever the server does to them. */
final class Crowd implements AutoCloseable {
  private static final int NEW_IN_A_TURN = 200;

  private final int size;
  private final Supplier<Line> opening;
  private final List<Line> lines = new ArrayList<>();

  /**
   * @param opening a connection that has something to say
   */
  Crowd(int size, Supplier<Line> opening) {
    this.size = size;
    this.opening = opening;
  }

  /**
   * A turn of each, and new ones in the place of those that are over.
   *
   * @param mostRead what each reads at most, in bytes
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
