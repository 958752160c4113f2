package lectus.metrics;

/** Nobody wants to know. */
final class NoNotes implements StageNotes {
  @Override
  public boolean isOn() {
    return false;
  }

  @Override
  public void add(Stage stage, long fromNanos, long toNanos) {}
}
