package lectus.audit;

/** The lowest and the highest read version so far. */
public final class ReadVersions {
  private long lowest = Long.MAX_VALUE;
  private long highest = Long.MIN_VALUE;

  void include(long version) {
    lowest = Math.min(lowest, version);
    highest = Math.max(highest, version);
  }

  void include(ReadVersions other) {
    lowest = Math.min(lowest, other.lowest);
    highest = Math.max(highest, other.highest);
  }

  /** Returns for example {@code version 7} or {@code versions 7 to 9}. */
  @Override
  public String toString() {
    if (lowest > highest) {
      return "no version";
    }
    return lowest == highest ? "version " + lowest : "versions " + lowest + " to " + highest;
  }
}
