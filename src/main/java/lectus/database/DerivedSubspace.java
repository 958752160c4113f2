package lectus.database;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.derived.Derived;
import lectus.derived.FeedDefinition;
import lectus.derived.IndexDefinition;
import lectus.derived.StoredFeed;
import lectus.derived.StoredFeed.Removal;
import lectus.derived.StoredIndex;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.json.MalformedTupleException;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.store.Awaiting;
import lectus.store.Versionstamp;

/**
 * The indexes and the stored feeds of one database, and the numbers that none gets a second time.
 *
 * <pre>
 * key    (prefix, DERIVED, number)
 * value  (format 1, 1, readable, design document, name, partitioned, direction, filter, field…)
 *        (format 1, 2, readable, name, 0, selector, Incarnation, Versionstamp)
 *        (format 1, 2, readable, name, 1, path of the field that names channels, Incarnation,
 *          Versionstamp)
 * key    (prefix, NUMBERS, 0)
 * value  (format 1, the highest number that was given)
 * key    (prefix, NUMBERS, 2, name)
 * value  (format 1, Incarnation, Versionstamp): when a stored feed of this name was removed last;
 *        under the empty name: the same of all names that are not remembered any more
 * </pre>
 *
 * The second number of a value, and that of the last key, is {@link Derived.Kind}'s. Filter and
 * selector are JSON; the filter is empty without one. The feed's Incarnation and Versionstamp are
 * those of {@link StoredFeed#former}.
 *
 * <p>The definitions are part of the database's handle. So a transaction that writes one also moves
 * the version key ({@link Catalogue#moveVersion}), and concurrent writes conflict with it and are
 * retried: no document is written without its entries. Hence no row needs conflict ranges.
 */
public final class DerivedSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "An index or a stored feed");
  private static final StoredFormat NUMBER_FORMAT =
      new StoredFormat(1, "A number of indexes and stored feeds");

  private static final int HIGHEST = 0;
  private static final int OF_SELECTOR = 0;
  private static final int OF_CHANNELS = 1;

  /** Number of names of which it is remembered when their feeds were removed. */
  static final int MAX_NAMES = 100;

  /** No feed has this name. */
  private static final String FORGOTTEN = "";

  private final byte[] prefix;
  private final byte[] numbers;

  public DerivedSubspace(byte[] databasePrefix) {
    this.prefix = DatabaseSubspace.DERIVED.key(databasePrefix).toBytes();
    this.numbers = DatabaseSubspace.NUMBERS.key(databasePrefix).toBytes();
  }

  /** Returns all indexes and stored feeds in the order of their numbers. */
  public CompletableFuture<List<Derived>> all(ReadTransaction tx) {
    return tx.snapshot()
        .getRange(prefix, new TupleWriter(prefix).octet(0xff).toBytes())
        .asList()
        .thenApply(rows -> rows.stream().map(this::decode).toList());
  }

  public Derived decode(KeyValue row) {
    long number = numberOf(row);
    TupleReader value = FORMAT.reader(row.getValue());
    return switch (Derived.Kind.numbered(value.smallInteger())) {
      case INDEX -> index(number, value);
      case FEED -> feed(number, value);
    };
  }

  private long numberOf(KeyValue row) {
    return new TupleReader(row.getKey(), prefix.length).only(TupleReader::integer);
  }

  private static StoredIndex index(long number, TupleReader value) {
    boolean isReadable = value.bool();
    String design = value.string();
    String name = value.string();
    boolean isPartitioned = value.bool();
    String direction = value.string();
    Optional<JsonObject> filter =
        Optional.of(value.string()).filter(it -> !it.isEmpty()).map(DerivedSubspace::json);
    List<String> fields = new ArrayList<>();
    while (value.hasNext()) {
      fields.add(value.string());
    }
    return new StoredIndex(
        number,
        new IndexDefinition(design, name, fields, direction, filter, isPartitioned),
        isReadable);
  }

  private static StoredFeed feed(long number, TupleReader value) {
    boolean isReadable = value.bool();
    String name = value.string();
    int rule = value.smallInteger();
    String text = value.string();
    FeedDefinition definition =
        switch (rule) {
          case OF_SELECTOR -> FeedDefinition.ofSelector(name, json(text));
          case OF_CHANNELS -> FeedDefinition.ofChannels(name, text);
          default -> throw new MalformedTupleException("No kind of stored feeds: " + rule);
        };
    return new StoredFeed(number, definition, isReadable, value.only(DerivedSubspace::removal));
  }

  private static JsonObject json(String text) {
    return (JsonObject) JsonValue.parse(text.getBytes(StandardCharsets.UTF_8));
  }

  public void put(Transaction tx, Derived derived) {
    TupleWriter value =
        new TupleWriter(128)
            .integer(FORMAT.number())
            .integer(derived.definition().kind().number())
            .bool(derived.isReadable());
    if (derived instanceof StoredIndex index) {
      write(index.definition(), value);
    } else {
      write((StoredFeed) derived, value);
    }
    set(tx, key(derived.number()), value);
  }

  private static void write(IndexDefinition index, TupleWriter value) {
    value
        .string(index.design())
        .string(index.name())
        .bool(index.partitioned())
        .string(index.direction())
        .string(index.filter().map(JsonValue::toJson).orElse(""));
    index.fields().forEach(value::string);
  }

  private static void write(StoredFeed feed, TupleWriter value) {
    FeedDefinition definition = feed.definition();
    value.string(definition.name());
    definition
        .selector()
        .ifPresentOrElse(
            it -> value.integer(OF_SELECTOR).string(it.toJson()),
            () -> value.integer(OF_CHANNELS).string(definition.channels().orElseThrow()));
    value.integer(feed.former().incarnation()).versionstamp(feed.former().at().bytes());
  }

  private byte[] key(long number) {
    return new TupleWriter(prefix).integer(number).toBytes();
  }

  /**
   * Removes a definition, and notes when, of a stored feed.
   *
   * @param incarnation the database's
   */
  public void clear(Transaction tx, int incarnation, Derived derived) {
    tx.options().setNextWriteNoWriteConflictRange();
    tx.clear(key(derived.number()));
    if (derived.definition().kind() == Derived.Kind.FEED) {
      forgetTooMany(tx);
      tx.options().setNextWriteNoWriteConflictRange();
      tx.mutate(
          MutationType.SET_VERSIONSTAMPED_VALUE,
          name(derived.definition().definedBy()),
          Versionstamp.template(
              new TupleWriter(16).integer(NUMBER_FORMAT.number()).integer(incarnation), 0));
    }
  }

  /** Gives a number that was never given before; without its row, one that nothing has. */
  public long nextNumber(Transaction tx) {
    byte[] end = new TupleWriter(prefix).octet(0xff).toBytes();
    CompletableFuture<List<KeyValue>> newest =
        tx.snapshot().getRange(prefix, end, 1, true).asList();
    byte[] last = Awaiting.await(tx.snapshot().get(highestKey()));
    long used = Awaiting.await(newest).stream().mapToLong(this::numberOf).findFirst().orElse(0);
    long next = Math.max(used, last == null ? 0 : highest(last)) + 1;
    set(tx, highestKey(), new TupleWriter(16).integer(NUMBER_FORMAT.number()).integer(next));
    return next;
  }

  private byte[] highestKey() {
    return new TupleWriter(numbers).integer(HIGHEST).toBytes();
  }

  private static long highest(byte[] value) {
    return NUMBER_FORMAT.reader(value).only(TupleReader::integer);
  }

  /** The names that were removed first are forgotten first. */
  private void forgetTooMany(Transaction tx) {
    byte[] first = new TupleWriter(name(FORGOTTEN)).octet(0).toBytes();
    byte[] end = ofFeeds().octet(0xff).toBytes();
    List<KeyValue> names =
        new ArrayList<>(Awaiting.await(tx.snapshot().getRange(first, end).asList()));
    names.sort(
        Comparator.comparing(
            (KeyValue row) -> removed(row.getValue()),
            Comparator.comparing(Removal::incarnation).thenComparing(Removal::at)));
    for (KeyValue row : names.subList(0, Math.max(0, names.size() + 1 - MAX_NAMES))) {
      tx.options().setNextWriteNoWriteConflictRange();
      tx.clear(row.getKey());
      tx.options().setNextWriteNoWriteConflictRange();
      tx.set(name(FORGOTTEN), row.getValue());
    }
  }

  /**
   * Returns when a stored feed of this name was removed last; of a name that is not remembered,
   * when that may have been.
   */
  public CompletableFuture<Removal> removed(ReadTransaction tx, String name) {
    return tx.snapshot()
        .get(name(name))
        .thenCombine(tx.snapshot().get(name(FORGOTTEN)), (own, other) -> own == null ? other : own)
        .thenApply(value -> value == null ? Removal.NONE : removed(value));
  }

  private static Removal removed(byte[] value) {
    return NUMBER_FORMAT.reader(value).only(DerivedSubspace::removal);
  }

  private static Removal removal(TupleReader value) {
    return new Removal(value.smallInteger(), new Versionstamp(value.versionstamp()));
  }

  private byte[] name(String name) {
    return ofFeeds().string(name).toBytes();
  }

  private TupleWriter ofFeeds() {
    return new TupleWriter(numbers).integer(Derived.Kind.FEED.number());
  }

  private static void set(Transaction tx, byte[] key, TupleWriter value) {
    tx.options().setNextWriteNoWriteConflictRange();
    tx.set(key, value.toBytes());
  }

  /**
   * Checks a row below NUMBERS.
   *
   * @throws MalformedTupleException if it does not belong there
   */
  public void checkNumber(KeyValue row) {
    TupleReader key = new TupleReader(row.getKey(), numbers.length);
    int part = key.smallInteger();
    if (part == HIGHEST) {
      key.end();
      highest(row.getValue());
    } else if (part == Derived.Kind.FEED.number()) {
      key.only(TupleReader::string);
      removed(row.getValue());
    } else {
      throw new MalformedTupleException("Only names of stored feeds are remembered");
    }
  }
}
