package lectus.http.changes;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Transaction;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseSubspace;
import lectus.database.DerivedSubspace;
import lectus.derived.StoredFeed;
import lectus.json.TupleReader;
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.Versionstamp;
import lectus.store.WrappedTransactions;

/**
 * A store that notes each document's leaves right after every commit that touches it, and when
 * stored feeds come and go. Points are versionstamps as hex.
 */
final class FeedHistory {
  private final Store inner;
  private final Store store;
  private final Catalogue catalogue;
  private final List<Life> lives = new ArrayList<>();

  /** A document's leaves from a commit on, the winner first; none of one that was purged. */
  record Event(String at, List<EditBranch> leaves) {
    boolean isPurge() {
      return leaves.isEmpty();
    }

    String winner() {
      return leaves.get(0).leaf().toString();
    }

    boolean isDeleted() {
      return leaves.get(0).deleted();
    }

    @Override
    public String toString() {
      StringBuilder text = new StringBuilder(at);
      leaves.forEach(
          it -> text.append(' ').append(it.leaf()).append(it.deleted() ? " deleted" : ""));
      return text.toString();
    }
  }

  /** A stored feed, from its definition to its removal. */
  static final class Feed {
    final StoredFeed stored;
    final String definedAt;
    String removedAt;

    Feed(StoredFeed stored, String definedAt) {
      this.stored = stored;
      this.definedAt = definedAt;
    }

    @Override
    public String toString() {
      return stored.definition().name() + " from " + definedAt + " to " + removedAt;
    }
  }

  /** What happened once, behind a point and before another. */
  record Span(String from, String to) {
    boolean has(String at) {
      return at.compareTo(from) > 0 && at.compareTo(to) <= 0;
    }
  }

  /** One life of a database. */
  static final class Life {
    final String name;
    final Map<String, NavigableMap<String, Event>> documents = new LinkedHashMap<>();
    final List<Feed> feeds = new ArrayList<>();
    private final DatabaseHandle handle;
    private final List<byte[]> entries;
    private final byte[] definitions;

    /** From when on members may read it, or may not. */
    private final NavigableMap<String, Boolean> rights = new TreeMap<>();

    /** It was made, and deleted, behind the first point of a span and before the second. */
    final Span made;

    Span ended;

    Life(DatabaseHandle handle, Span made) {
      this.name = handle.name().text();
      this.made = made;
      this.handle = handle;
      this.entries =
          List.of(
              DatabaseSubspace.CHANGES.key(handle.prefix()).toBytes(),
              DatabaseSubspace.PURGES.key(handle.prefix()).toBytes());
      this.definitions = DatabaseSubspace.DERIVED.key(handle.prefix()).toBytes();
    }

    boolean isOver() {
      return ended != null;
    }

    @Override
    public String toString() {
      return name + " made " + made + " ended " + ended + " for members " + rights;
    }

    /** Notes whether members may read it, by a change that is over. */
    void admit(boolean members, String at) {
      rights.put(at, members);
    }

    /** Whether members may read it now, or could when it was deleted. */
    boolean isForMembers() {
      return !rights.isEmpty() && rights.lastEntry().getValue();
    }

    /** Whether members could read it at some time from a point on. */
    boolean wasForMembersFrom(String at) {
      return (ended == null || ended.to().compareTo(at) > 0)
          && rights.entrySet().stream()
              .filter(Map.Entry::getValue)
              .map(it -> rights.higherKey(it.getKey()))
              .anyMatch(until -> until == null || until.compareTo(at) > 0);
    }

    /** Whether it had no documents before a point. */
    boolean isUntouchedAt(String at) {
      return documents.values().stream().allMatch(it -> it.firstKey().compareTo(at) > 0);
    }

    /** Returns since when members may read it without a break; empty if they may not. */
    Optional<String> forMembersSince() {
      String since = null;
      for (Map.Entry<String, Boolean> each : rights.entrySet()) {
        if (!each.getValue()) {
          since = null;
        } else if (since == null) {
          since = each.getKey();
        }
      }
      return Optional.ofNullable(since);
    }

    Optional<Feed> feed(String wanted) {
      return feeds.stream()
          .filter(it -> it.stored.definition().name().equals(wanted) && it.removedAt == null)
          .findFirst();
    }

    private boolean hasEntry(byte[] key) {
      return entries.stream().anyMatch(it -> startsWith(key, it));
    }

    private boolean hasDefinition(byte[] key) {
      return startsWith(key, definitions);
    }

    private static boolean startsWith(byte[] key, byte[] prefix) {
      return key.length > prefix.length
          && Arrays.equals(key, 0, prefix.length, prefix, 0, prefix.length);
    }
  }

  FeedHistory(Store inner) {
    this.inner = inner;
    this.store = WrappedTransactions.of(inner, this::noted);
    this.catalogue =
        new Catalogue(
            inner, new TransactionRunner(inner, TransactionLimits.DEFAULT), InstantSource.system());
  }

  Store store() {
    return store;
  }

  /**
   * Notes what happens to a database from now on, which has no documents yet.
   *
   * @param from a point before it was made
   */
  Life begin(String name, String from) {
    Life life = new Life(catalogue.open(DatabaseName.of(name)), new Span(from, now()));
    synchronized (this) {
      lives.add(life);
    }
    return life;
  }

  /** Notes that a life of a database was over between a point and now. */
  void end(Life life, String from) {
    Span span = new Span(from, now());
    synchronized (this) {
      life.ended = span;
    }
  }

  /** Notes nothing more of the databases so far. */
  synchronized void forget() {
    lives.clear();
  }

  /** Returns a point after all commits up to now. */
  String now() {
    try (Transaction tx = inner.database().createTransaction()) {
      byte[] stamp = new byte[Versionstamp.LENGTH];
      long version = tx.getReadVersion().join();
      for (int i = 0; i < Long.BYTES; i++) {
        stamp[i] = (byte) (version >>> (Long.SIZE - Byte.SIZE * (i + 1)));
      }
      Arrays.fill(stamp, Long.BYTES, stamp.length, (byte) 0xff);
      return HexFormat.of().formatHex(stamp);
    }
  }

  synchronized List<Life> lives() {
    return List.copyOf(lives);
  }

  /** What one transaction does to documents and feeds. */
  private static final class Notes {
    private final Map<Life, Map<String, Integer>> documents = new HashMap<>();
    private final Map<Life, Map<Long, Optional<StoredFeed>>> feeds = new HashMap<>();
  }

  private Transaction noted(Transaction tx) {
    Notes notes = new Notes();
    return WrappedTransactions.proxy(
        Transaction.class,
        (method, arguments) ->
            switch (method.getName()) {
              case "mutate" -> {
                if (arguments[0] == MutationType.SET_VERSIONSTAMPED_KEY) {
                  noteDocument((byte[]) arguments[1], (byte[]) arguments[2], notes);
                }
                yield WrappedTransactions.call(tx, method, arguments);
              }
              case "set" -> {
                noteFeed((byte[]) arguments[0], Optional.of((byte[]) arguments[1]), notes);
                yield WrappedTransactions.call(tx, method, arguments);
              }
              case "clear" -> {
                if (arguments.length == 1 && arguments[0] instanceof byte[] key) {
                  noteFeed(key, Optional.empty(), notes);
                }
                yield WrappedTransactions.call(tx, method, arguments);
              }
              case "onError" -> tx.onError((Throwable) arguments[0]).thenApply(this::noted);
              case "commit" -> commit(tx, notes);
              default -> WrappedTransactions.call(tx, method, arguments);
            });
  }

  private synchronized void noteDocument(byte[] template, byte[] value, Notes notes) {
    for (Life life : lives) {
      if (life.hasEntry(template)) {
        TupleReader entry = new TupleReader(value, 0);
        entry.smallInteger();
        int user = template.length - Integer.BYTES - 2;
        notes
            .documents
            .computeIfAbsent(life, none -> new HashMap<>())
            .put(entry.string(), (template[user] & 0xff) << 8 | (template[user + 1] & 0xff));
      }
    }
  }

  private synchronized void noteFeed(byte[] key, Optional<byte[]> value, Notes notes) {
    for (Life life : lives) {
      if (life.hasDefinition(key)) {
        notes
            .feeds
            .computeIfAbsent(life, none -> new HashMap<>())
            .put(
                new TupleReader(key, life.definitions.length).integer(),
                value
                    .map(
                        it ->
                            new DerivedSubspace(life.handle.prefix()).decode(new KeyValue(key, it)))
                    .map(StoredFeed.class::cast));
      }
    }
  }

  private CompletableFuture<Void> commit(Transaction tx, Notes notes) {
    if (notes.documents.isEmpty() && notes.feeds.isEmpty()) {
      return tx.commit();
    }
    CompletableFuture<byte[]> stamp = tx.getVersionstamp();
    return tx.commit()
        .thenCompose(done -> stamp)
        .thenAccept(it -> note(it, tx.getCommittedVersion(), notes));
  }

  private void note(byte[] stamp, long version, Notes notes) {
    Map<Life, Map<String, List<EditBranch>>> leaves = new HashMap<>();
    try (Transaction after = inner.database().createTransaction()) {
      after.setReadVersion(version);
      notes.documents.forEach(
          (life, documents) ->
              documents
                  .keySet()
                  .forEach(
                      id ->
                          leaves
                              .computeIfAbsent(life, none -> new HashMap<>())
                              .put(
                                  id,
                                  new RevisionsSubspace(life.handle).branches(after, id).join())));
    }
    synchronized (this) {
      leaves.forEach(
          (life, documents) ->
              documents.forEach(
                  (id, branches) -> {
                    String at = point(stamp, notes.documents.get(life).get(id));
                    life.documents
                        .computeIfAbsent(id, none -> new TreeMap<>())
                        .put(at, new Event(at, branches));
                  }));
      notes.feeds.forEach(
          (life, feeds) ->
              feeds.forEach((number, feed) -> note(life, number, feed, point(stamp, 0xffff))));
    }
  }

  private static void note(Life life, long number, Optional<StoredFeed> feed, String at) {
    Optional<Feed> known =
        life.feeds.stream()
            .filter(it -> it.stored.number() == number && it.removedAt == null)
            .findFirst();
    if (feed.isEmpty()) {
      known.ifPresent(it -> it.removedAt = at);
    } else if (known.isEmpty()) {
      life.feeds.add(new Feed(feed.get(), at));
    }
  }

  private static String point(byte[] stamp, int number) {
    return HexFormat.of().formatHex(Versionstamp.complete(stamp, number));
  }
}
