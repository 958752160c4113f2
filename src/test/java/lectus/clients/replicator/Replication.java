package lectus.clients.replicator;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.IntStream;
import lectus.clients.replicator.RemoteDatabase.ChangesFeed;
import lectus.clients.replicator.RemoteDatabase.ChangesFeed.Change;
import lectus.clients.replicator.RemoteDatabase.ChangesFeed.LastSeq;
import lectus.clients.replicator.RemoteDatabase.ChangesFeed.Line;
import lectus.clients.replicator.RemoteDatabase.ChangesQuery;
import lectus.clients.replicator.RemoteDatabase.Outcome;
import lectus.clients.replicator.RemoteDatabase.Taken;
import lectus.clients.replicator.RemoteDatabase.TooLarge;
import lectus.clients.replicator.RemoteDatabase.Wanted;
import lectus.clients.replicator.Replication.ReplicationStatistics.Count;

/**
 * A session of CouchDB 3.5.2's replicator: its requests in order, with one worker instead of four,
 * checkpoints on request instead of every thirty seconds, and no retries.
 */
final class Replication implements AutoCloseable {
  private static final int BATCH_ROWS = 500;

  /** Characters of JSON that a worker gathers before it writes. */
  private static final int BATCH_CHARACTERS = 4 << 20;

  private final RemoteDatabase source;
  private final RemoteDatabase target;
  private final ChangesQuery query;
  private final ReplicationLogs logs;
  private final List<JsonObject> olderHistory;
  private final ReplicationStatistics statistics;
  private final String session = UUID.randomUUID().toString().replace("-", "");
  private final ZonedDateTime started = ZonedDateTime.now(ZoneOffset.UTC);
  private final String sourceStarted;
  private final String targetStarted;
  private final String startSeq;
  private final List<JsonObject> refused = new ArrayList<>();
  private FailureRatio bulkGet = FailureRatio.ofBulkGet();
  private FailureRatio revsDiff = FailureRatio.ofRevsDiff();
  private String through;
  private Optional<String> committed = Optional.empty();
  private Optional<ChangesFeed> feed = Optional.empty();

  /** Opens both databases, creates the target, and reads the last checkpoint. */
  private Replication(RemoteDatabase source, RemoteDatabase target, ChangesQuery query) {
    this.source = source;
    this.target = target;
    this.query = query;
    source.info();
    target.create();
    target.info();
    this.sourceStarted = source.info().getString("instance_start_time");
    this.targetStarted = target.info().getString("instance_start_time");
    this.logs = ReplicationLogs.of(source, target);
    ReplicationLogs.Agreed agreed = logs.agreed();
    this.startSeq = agreed.sequence();
    this.through = startSeq;
    this.olderHistory = agreed.history();
    this.statistics = ReplicationStatistics.after(olderHistory);
  }

  static Replication start(RemoteDatabase source, RemoteDatabase target, ChangesQuery query) {
    return new Replication(source, target, query);
  }

  /** Returns the sequence at which it began. */
  String startSeq() {
    return startSeq;
  }

  int count(Count count) {
    return statistics.get(count);
  }

  /** Returns the error rows in the target's answers. */
  List<JsonObject> refused() {
    return refused;
  }

  /** Replicates the existing changes, and saves a checkpoint if there were any. */
  void run() {
    List<Change> batch = new ArrayList<>();
    try (ChangesFeed changes = source.changes(query, through)) {
      for (Optional<Line> line = changes.next();
          line.isPresent() && line.get() instanceof Change change;
          line = changes.next()) {
        batch.add(change);
        if (batch.size() == BATCH_ROWS) {
          replicate(batch);
          batch.clear();
        }
      }
    }
    replicate(batch);
    checkpoint();
  }

  /** Replicates the next rows of a continuous feed, which is resumed when it times out. */
  void follow(int rows) {
    replicate(read(rows));
  }

  /** Returns the next rows of a continuous feed. */
  List<Change> read(int rows) {
    List<Change> batch = new ArrayList<>();
    while (batch.size() < rows) {
      if (next() instanceof Change change) {
        batch.add(change);
      }
    }
    return batch;
  }

  /** Waits until a continuous feed times out without changes; the next feed begins there. */
  void followToTimeout() {
    assertThat(next()).isInstanceOf(LastSeq.class);
  }

  private Line next() {
    if (feed.isEmpty()) {
      feed = Optional.of(source.changes(query, through));
    }
    Line line = feed.get().next().orElseThrow(() -> new AssertionError("No last line"));
    if (line instanceof LastSeq last) {
      through = last.seq();
      close();
    }
    return line;
  }

  /** Does a worker's part for one batch. */
  void replicate(List<Change> changes) {
    if (changes.isEmpty()) {
      return;
    }
    List<Wanted> wanted = missing(changes);
    List<Wanted> alone = new ArrayList<>();
    List<Wanted> together = new ArrayList<>();
    wanted.forEach(one -> (ReplicatedDocument.isDesign(one.id()) ? alone : together).add(one));
    Batch batch = new Batch();
    alone.forEach(one -> fetchAlone(one, batch));
    Map<Wanted, ReplicatedDocument> got = fetchTogether(together);
    got.values().forEach(batch::add);
    together.stream().filter(one -> !got.containsKey(one)).forEach(one -> fetchAlone(one, batch));
    batch.flush();
    through = changes.get(changes.size() - 1).seq();
  }

  private List<Wanted> missing(List<Change> changes) {
    int checked = changes.stream().mapToInt(change -> change.revs().size()).sum();
    List<Wanted> wanted;
    if (revsDiff.pays()) {
      wanted = new ArrayList<>(target.missing(changes));
      long unknown = wanted.stream().filter(one -> one.ancestors().isEmpty()).count();
      revsDiff = revsDiff.after(checked - (int) unknown, checked);
    } else {
      wanted = new ArrayList<>();
      for (Change change : changes) {
        change.revs().forEach(rev -> wanted.add(new Wanted(change.id(), rev, List.of())));
      }
    }
    wanted.sort(Comparator.comparing(Wanted::id).thenComparing(Wanted::rev));
    statistics.add(Count.MISSING_CHECKED, checked);
    statistics.add(Count.MISSING_FOUND, wanted.size());
    return wanted;
  }

  private Map<Wanted, ReplicatedDocument> fetchTogether(List<Wanted> wanted) {
    if (!bulkGet.pays()) {
      return Map.of();
    }
    Map<Wanted, ReplicatedDocument> got = source.bulkGet(wanted);
    statistics.add(Count.BULK_GET_DOCS, got.size());
    statistics.add(Count.BULK_GET_ATTEMPTS, wanted.size());
    bulkGet = bulkGet.after(got.size(), wanted.size());
    return got;
  }

  /**
   * Design documents are also written alone, so that a refusal affects nothing else; those with
   * attachments, while these come.
   */
  private void fetchAlone(Wanted wanted, Batch batch) {
    for (ReplicatedDocument document : source.openRevisions(wanted)) {
      if (document.isDesign() || document.hasAttachments()) {
        statistics.add(Count.DOCS_READ, 1);
        Optional<String> error = target.save(document);
        statistics.add(error.isEmpty() ? Count.DOCS_WRITTEN : Count.DOC_WRITE_FAILURES, 1);
      } else {
        batch.add(document);
      }
    }
  }

  /** Documents that were read but not written yet. */
  private final class Batch {
    private final List<String> documents = new ArrayList<>();
    private int characters;

    void add(ReplicatedDocument document) {
      String json = document.toJson().encode();
      documents.add(json);
      characters += json.length();
      statistics.add(Count.DOCS_READ, 1);
      if (characters > BATCH_CHARACTERS) {
        flush();
      }
    }

    /** The last comes first, as in a list that grows at its head. */
    void flush() {
      Collections.reverse(documents);
      write(documents);
      documents.clear();
      characters = 0;
    }
  }

  /** A request that is too large is split in two, down to one document, which is given up. */
  private void write(List<String> documents) {
    if (documents.isEmpty()) {
      return;
    }
    Outcome outcome = target.saveAll(documents);
    if (outcome instanceof Taken taken) {
      refused.addAll(taken.refused());
      statistics.add(Count.DOC_WRITE_FAILURES, taken.refused().size());
      statistics.add(Count.DOCS_WRITTEN, documents.size() - taken.refused().size());
    } else if (outcome instanceof TooLarge && documents.size() == 1) {
      statistics.add(Count.DOC_WRITE_FAILURES, 1);
    } else {
      int half = documents.size() / 2;
      write(documents.subList(0, half));
      write(documents.subList(half, documents.size()));
    }
  }

  /** Saves the position if it has advanced. */
  void checkpoint() {
    if (through.equals(committed.orElse(startSeq))) {
      return;
    }
    assertThat(source.ensureFullCommit()).isEqualTo(sourceStarted);
    assertThat(target.ensureFullCommit()).isEqualTo(targetStarted);
    JsonObject entry =
        new JsonObject()
            .put("session_id", session)
            .put("start_time", date(started))
            .put("end_time", date(ZonedDateTime.now(ZoneOffset.UTC)))
            .put("start_last_seq", startSeq.equals(ReplicationLogs.LOWEST_SEQ) ? 0 : startSeq)
            .put("end_last_seq", through)
            .put("recorded_seq", through);
    statistics.writeTo(entry);
    logs.save(entry, olderHistory);
    committed = Optional.of(through);
    source.pending(through);
  }

  private static String date(ZonedDateTime time) {
    return time.format(DateTimeFormatter.RFC_1123_DATE_TIME);
  }

  /** Ends a continuous feed. */
  @Override
  public void close() {
    feed.ifPresent(ChangesFeed::close);
    feed = Optional.empty();
  }

  /**
   * A moving average of the share of attempts without result, by which the replicator decides
   * whether a kind of request is worthwhile ({@code couch_replicator_worker}). Its retry after 37
   * seconds is left out.
   *
   * @param average 0 to 1
   * @param threshold above which it is not
   * @param decay the weight of the latest attempt
   */
  private record FailureRatio(double average, double threshold, double decay) {
    static FailureRatio ofBulkGet() {
      return new FailureRatio(0, 0.5, 0.25);
    }

    static FailureRatio ofRevsDiff() {
      return new FailureRatio(0, 0.95, 0.4);
    }

    boolean pays() {
      return average <= threshold;
    }

    FailureRatio after(int successes, int attempts) {
      double latest = attempts > 0 ? (attempts - successes) / (double) attempts : 0;
      return new FailureRatio(average + decay * (latest - average), threshold, decay);
    }
  }

  /** The counters of a replication, across all its sessions. */
  static final class ReplicationStatistics {
    /** In the order of the history's members. */
    enum Count {
      MISSING_CHECKED,
      MISSING_FOUND,
      DOCS_READ,
      DOCS_WRITTEN,
      DOC_WRITE_FAILURES,
      BULK_GET_DOCS,
      BULK_GET_ATTEMPTS;

      private String member() {
        return name().toLowerCase(Locale.ROOT);
      }
    }

    private final Map<Count, Integer> counts = new EnumMap<>(Count.class);

    /** Continues from the newest entry of a history. */
    static ReplicationStatistics after(List<JsonObject> history) {
      ReplicationStatistics statistics = new ReplicationStatistics();
      history.stream()
          .limit(1)
          .forEach(
              newest ->
                  Arrays.stream(Count.values())
                      .forEach(
                          count -> statistics.add(count, newest.getInteger(count.member(), 0))));
      return statistics;
    }

    void add(Count count, int more) {
      counts.merge(count, more, Integer::sum);
    }

    int get(Count count) {
      return counts.getOrDefault(count, 0);
    }

    void writeTo(JsonObject entry) {
      Arrays.stream(Count.values()).forEach(count -> entry.put(count.member(), get(count)));
    }
  }

  /**
   * The local documents with a replication's checkpoints, one at the source and one at the target.
   * What both agree on counts ({@code couch_replicator_scheduler_job}).
   */
  static final class ReplicationLogs {
    /** The beginning of a replication without a history. */
    static final String LOWEST_SEQ = "0";

    /** The current version of replication ids. Ids of earlier versions are looked up, too. */
    static final int VERSION = 4;

    private static final int MAX_HISTORY = 50;

    private final RemoteDatabase source;
    private final RemoteDatabase target;
    private ReplicatedDocument sourceLog;
    private ReplicatedDocument targetLog;

    private ReplicationLogs(RemoteDatabase source, RemoteDatabase target) {
      this.source = source;
      this.target = target;
      this.sourceLog = find(source);
      this.targetLog = find(target);
    }

    static ReplicationLogs of(RemoteDatabase source, RemoteDatabase target) {
      return new ReplicationLogs(source, target);
    }

    /**
     * The checkpoint that source and target agree on.
     *
     * @param sequence where to continue
     * @param history entries, the newest first
     */
    record Agreed(String sequence, List<JsonObject> history) {}

    /** Returns the document's id in a version of the naming scheme. */
    static String id(RemoteDatabase source, RemoteDatabase target, int version) {
      try {
        byte[] name = (version + source.url() + target.url()).getBytes(StandardCharsets.UTF_8);
        return "_local/" + HexFormat.of().formatHex(MessageDigest.getInstance("MD5").digest(name));
      } catch (NoSuchAlgorithmException e) {
        throw new AssertionError(e);
      }
    }

    /**
     * Returns the current one; a document found under an earlier id is saved under the current one.
     */
    private ReplicatedDocument find(RemoteDatabase database) {
      String today = id(source, target, VERSION);
      for (int version = VERSION; version > 0; version--) {
        Optional<ReplicatedDocument> found = database.open(id(source, target, version));
        if (found.isPresent() && version < VERSION) {
          return database.saveLocal(ReplicatedDocument.named(today).withBody(found.get().body()));
        } else if (found.isPresent()) {
          return found.get();
        }
      }
      return ReplicatedDocument.named(today);
    }

    /** Compares the two documents and, if they differ, their histories. */
    Agreed agreed() {
      JsonObject there = sourceLog.body();
      JsonObject here = targetLog.body();
      if (Objects.equals(there.getString("session_id"), here.getString("session_id"))) {
        return new Agreed(there.getString("source_last_seq", LOWEST_SEQ), history(there));
      }
      return common(history(there), history(here));
    }

    private static Agreed common(List<JsonObject> source, List<JsonObject> target) {
      if (source.isEmpty() || target.isEmpty()) {
        return new Agreed(LOWEST_SEQ, List.of());
      }
      List<JsonObject> olderSource = source.subList(1, source.size());
      List<JsonObject> olderTarget = target.subList(1, target.size());
      if (has(target, source.get(0))) {
        return new Agreed(source.get(0).getString("recorded_seq"), olderSource);
      } else if (has(olderSource, target.get(0))) {
        return new Agreed(target.get(0).getString("recorded_seq"), olderTarget);
      }
      return common(olderSource, olderTarget);
    }

    private static boolean has(List<JsonObject> history, JsonObject session) {
      String id = session.getString("session_id");
      return history.stream().anyMatch(entry -> entry.getString("session_id").equals(id));
    }

    private static List<JsonObject> history(JsonObject log) {
      JsonArray entries = log.getJsonArray("history", new JsonArray());
      return IntStream.range(0, entries.size()).mapToObj(entries::getJsonObject).toList();
    }

    /**
     * Saves a checkpoint at both ends.
     *
     * @param entry the current session's
     * @param older those of earlier sessions
     */
    void save(JsonObject entry, List<JsonObject> older) {
      JsonArray history = new JsonArray().add(entry);
      older.stream().limit(MAX_HISTORY - 1).forEach(history::add);
      JsonObject body =
          new JsonObject()
              .put("session_id", entry.getString("session_id"))
              .put("source_last_seq", entry.getString("recorded_seq"))
              .put("replication_id_version", VERSION)
              .put("history", history);
      sourceLog = source.saveLocal(sourceLog.withBody(body));
      targetLog = target.saveLocal(targetLog.withBody(body));
    }
  }
}
