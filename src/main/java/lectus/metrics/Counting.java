package lectus.metrics;

/**
 * Whether the figures of each request and each transaction are counted. They always are; only the
 * load test that measures what counting costs starts a process without.
 */
public final class Counting {
  public static final boolean IS_ON = !Boolean.getBoolean("lectus.uncounted");

  private Counting() {}
}
