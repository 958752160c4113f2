package lectus.changes.page;

/** A listener's registration, which lasts until it is closed. Closing it again does nothing. */
@FunctionalInterface
public interface Registration extends AutoCloseable {
  @Override
  void close();
}
