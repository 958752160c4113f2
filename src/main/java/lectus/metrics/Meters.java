package lectus.metrics;

import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;

/**
 * Takes the figures of a server's parts, each with its name and its meaning. Names are words in
 * lower case with underscores between them. What is read must neither wait nor throw.
 */
public interface Meters {
  /** Something that only grows. */
  void count(String name, String meaning, LongSupplier count);

  /** Something that rises and falls. */
  void level(String name, String meaning, DoubleSupplier level);

  /** How something is spread over sizes or times. */
  void spread(String name, String meaning, Histogram spread);

  /**
   * Returns meters that mark all they take with a label. Its values are few, and no client can
   * choose them.
   */
  Meters with(String label, String value);

  /** A part of the server that counts something. */
  interface Measured {
    /** Names its figures, once; they are read later, on any thread. */
    void describe(Meters meters);
  }
}
