package lectus.replication;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.replication.Target.Refusal;

/** What a replication has done, in all its sessions, and where it is. Thread-safe. */
public final class ReplicationStatistics {
  /** So many refusals are kept, of this session alone. */
  public static final int MOST_REFUSALS = 100;

  private final Map<Count, AtomicLong> counts = new EnumMap<>(Count.class);
  private final Queue<Refusal> refusals = new ArrayBlockingQueue<>(MOST_REFUSALS);

  /** Documents that earlier sessions have written. */
  private volatile long writtenBefore;

  /** The last change that was read, and the last before which all is written, or saved. */
  private volatile JsonValue read = Checkpoints.BEGINNING;

  private volatile JsonValue written = Checkpoints.BEGINNING;
  private volatile JsonValue saved = Checkpoints.BEGINNING;
  private volatile OptionalLong pending = OptionalLong.empty();

  /** What is counted, under the names of a checkpoint's history and of a running task. */
  public enum Count {
    MISSING_CHECKED("missing_checked", "revisions_checked"),
    MISSING_FOUND("missing_found", "missing_revisions_found"),
    DOCS_READ("docs_read", "docs_read"),
    DOCS_WRITTEN("docs_written", "docs_written"),
    DOC_WRITE_FAILURES("doc_write_failures", "doc_write_failures"),
    BULK_GET_DOCS("bulk_get_docs", "bulk_get_docs"),
    BULK_GET_ATTEMPTS("bulk_get_attempts", "bulk_get_attempts");

    private final String inHistory;
    private final String inTask;

    Count(String inHistory, String inTask) {
      this.inHistory = inHistory;
      this.inTask = inTask;
    }
  }

  ReplicationStatistics() {
    for (Count count : Count.values()) {
      counts.put(count, new AtomicLong());
    }
  }

  public long get(Count count) {
    return counts.get(count).get();
  }

  /** Returns how many documents this session alone has written. */
  public long writtenNow() {
    return get(Count.DOCS_WRITTEN) - writtenBefore;
  }

  void add(Count count, long more) {
    counts.get(count).addAndGet(more);
  }

  void refused(List<Refusal> some) {
    add(Count.DOC_WRITE_FAILURES, some.size());
    some.forEach(refusals::offer);
  }

  public List<Refusal> refusals() {
    return List.copyOf(refusals);
  }

  /** Goes on where an earlier session stopped. */
  void goOn(Optional<JsonObject> session, JsonValue since) {
    for (Count count : Count.values()) {
      JsonValue former = session.flatMap(it -> it.get(count.inHistory)).orElse(null);
      if (former instanceof JsonNumber number && number.text().matches("[0-9]{1,18}")) {
        counts.get(count).set(Long.parseLong(number.text()));
      }
    }
    writtenBefore = get(Count.DOCS_WRITTEN);
    read = since;
    written = since;
    saved = since;
  }

  void hasRead(JsonValue sequence, OptionalLong left) {
    read = sequence;
    pending = left;
  }

  void hasWritten(JsonValue sequence) {
    written = sequence;
  }

  void hasSaved(JsonValue sequence) {
    saved = sequence;
  }

  /** Appends the counts as a checkpoint's history has them, each behind a comma. */
  void appendHistory(JsonBuffer out) {
    counts.forEach(
        (count, value) -> out.octet(',').string(count.inHistory).octet(':').number(value.get()));
  }

  /** Appends all as a running task shows it, without brackets. */
  public void append(JsonBuffer out) {
    counts.forEach(
        (count, value) -> out.string(count.inTask).octet(':').number(value.get()).octet(','));
    out.ascii("\"changes_pending\":");
    pending.ifPresentOrElse(out::number, out::nil);
    out.ascii(",\"checkpointed_source_seq\":").string(text(saved));
    out.ascii(",\"source_seq\":").string(text(read));
    out.ascii(",\"through_seq\":").string(text(written));
  }

  private static String text(JsonValue sequence) {
    return sequence instanceof JsonString text ? text.value() : sequence.toJson();
  }
}
