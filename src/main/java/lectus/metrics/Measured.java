package lectus.metrics;

/** A part of the server that counts something. */
public interface Measured {
  /** Names its figures, once; they are read later, on any thread. */
  void describe(Meters meters);
}
