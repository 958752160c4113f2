package lectus.feed;

/** That somebody is told of something, until it is closed. Closing it again does nothing. */
@FunctionalInterface
public interface Registration extends AutoCloseable {
  @Override
  void close();
}
