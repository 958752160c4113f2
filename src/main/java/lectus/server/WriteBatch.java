package lectus.server;

import java.util.ArrayList;
import java.util.List;
import lectus.database.DatabaseName;
import lectus.document.edit.Edit;
import lectus.document.write.EditOutcome;

/** What one transaction takes: writes that wait for the same database, in their order. */
record WriteBatch(List<PendingWrite> writes) {

  DatabaseName database() {
    return writes.get(0).database();
  }

  /** How many edits. */
  int size() {
    int size = 0;
    for (PendingWrite write : writes) {
      size += write.edits().size();
    }
    return size;
  }

  /** About what they hold in memory. */
  long bytes() {
    long bytes = 0;
    for (PendingWrite write : writes) {
      bytes += write.bytes();
    }
    return bytes;
  }

  boolean atomic() {
    return writes.get(0).atomic();
  }

  List<Edit> edits() {
    if (writes.size() == 1) {
      return writes.get(0).edits();
    }
    List<Edit> edits = new ArrayList<>(writes.size());
    writes.forEach(write -> edits.addAll(write.edits()));
    return edits;
  }

  /** Gives each request its own share of the outcomes. */
  void complete(List<EditOutcome> outcomes) {
    int from = 0;
    for (PendingWrite write : writes) {
      int to = from + write.edits().size();
      Outcomes.tell(write.completion(), outcomes.subList(from, to));
      from = to;
    }
  }

  void fail(Throwable failure) {
    writes.forEach(write -> Outcomes.tellFailed(write.completion(), failure));
  }
}
