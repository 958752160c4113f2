package lectus.database;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import lectus.derived.FeedDefinition;
import lectus.derived.FeedRule;
import lectus.derived.StoredFeed;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.store.Versionstamp;
import lectus.tuple.MalformedTupleException;
import lectus.tuple.StoredFormat;
import lectus.tuple.TupleReader;
import lectus.tuple.TupleWriter;

/**
 * The stored feeds of one database.
 *
 * <pre>
 * key    (prefix, FEEDS, number)
 * value  (format 1, readable, name, 0, selector, Versionstamp)
 *        (format 1, readable, name, 1, path of the field that names channels, Versionstamp)
 * </pre>
 *
 * The selector is JSON. The Versionstamp is {@link StoredFeed#formerRemovedAt}. The rows are part
 * of the database's handle. So a transaction that writes one also moves the version key ({@link
 * Catalogue#moveVersion}), and concurrent writes conflict with it and are retried: no document is
 * written without its entries.
 */
public final class FeedsSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "A stored feed");
  private static final int OF_SELECTOR = 0;
  private static final int OF_CHANNELS = 1;

  private final byte[] prefix;
  private final NumbersSubspace numbers;

  public FeedsSubspace(byte[] databasePrefix) {
    this.prefix = DatabaseSubspace.FEEDS.key(databasePrefix).toBytes();
    this.numbers = new NumbersSubspace(databasePrefix, DatabaseSubspace.FEEDS);
  }

  /** Returns all stored feeds in the order of their numbers. */
  public CompletableFuture<List<StoredFeed>> all(ReadTransaction tx) {
    return tx.snapshot()
        .getRange(prefix, TupleWriter.startingWith(prefix).octet(0xff).toBytes())
        .asList()
        .thenApply(rows -> rows.stream().map(this::decode).toList());
  }

  public StoredFeed decode(KeyValue row) {
    long number = new TupleReader(row.getKey(), prefix.length).only(TupleReader::integer);
    TupleReader value = FORMAT.reader(row.getValue());
    boolean isReadable = value.bool();
    String name = value.string();
    int kind = value.smallInteger();
    FeedRule rule = rule(kind, value.string());
    Versionstamp formerRemovedAt = new Versionstamp(value.only(TupleReader::versionstamp));
    return new StoredFeed(number, new FeedDefinition(name, rule), isReadable, formerRemovedAt);
  }

  private static FeedRule rule(int kind, String text) {
    return switch (kind) {
      case OF_SELECTOR ->
          new FeedRule.Selected(
              (JsonObject) JsonValue.parse(text.getBytes(StandardCharsets.UTF_8)));
      case OF_CHANNELS -> new FeedRule.Channels(text);
      default -> throw new MalformedTupleException("No kind of stored feeds: " + kind);
    };
  }

  public void put(Transaction tx, StoredFeed feed) {
    FeedDefinition definition = feed.definition();
    TupleWriter value =
        new TupleWriter(128)
            .integer(FORMAT.number())
            .bool(feed.isReadable())
            .string(definition.name());
    if (definition.rule() instanceof FeedRule.Channels channels) {
      value.integer(OF_CHANNELS).string(channels.path());
    } else {
      FeedRule.Selected selected = (FeedRule.Selected) definition.rule();
      value.integer(OF_SELECTOR).string(selected.selector().toJson());
    }
    tx.options().setNextWriteNoWriteConflictRange();
    tx.set(key(feed.number()), value.versionstamp(feed.formerRemovedAt().bytes()).toBytes());
  }

  /**
   * Returns a number that no feed of the database has had.
   *
   * @param highest number in use; 0 without any
   */
  public long nextNumber(Transaction tx, long highest) {
    return numbers.next(tx, highest);
  }

  public void clear(Transaction tx, StoredFeed feed) {
    tx.options().setNextWriteNoWriteConflictRange();
    tx.clear(key(feed.number()));
    numbers.retire(tx, feed.number());
    numbers.remove(tx, feed.definition().name());
  }

  /** Returns when a feed of this name was removed last, or may have been; ZERO if none was. */
  public CompletableFuture<Versionstamp> removedAt(ReadTransaction tx, String name) {
    return numbers.removedAt(tx, name);
  }

  private byte[] key(long number) {
    return TupleWriter.startingWith(prefix).integer(number).toBytes();
  }
}
