package lectus.metrics;

import java.util.List;

/** Requests whose edits are in one transaction. */
record SharedNotes(List<StageNotes> all) implements StageNotes {
  @Override
  public boolean isOn() {
    return true;
  }

  @Override
  public void add(Stage stage, long fromNanos, long toNanos) {
    all.forEach(each -> each.add(stage, fromNanos, toNanos));
  }
}
