package lectus.database;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.derived.IndexDefinition;
import lectus.derived.StoredIndex;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.tuple.StoredFormat;
import lectus.tuple.TupleReader;
import lectus.tuple.TupleWriter;

/**
 * The indexes of one database.
 *
 * <pre>
 * key    (prefix, INDEXES, number)
 * value  (format 1, readable, design document, name, partitioned, direction, filter, field…)
 * </pre>
 *
 * The filter is JSON; empty without one. The rows are part of the database's handle. So a
 * transaction that writes one also moves the version key ({@link Catalogue#moveVersion}), and
 * concurrent writes conflict with it and are retried: no document is written without its entries.
 */
public final class IndexesSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "An index");

  private final byte[] prefix;
  private final NumbersSubspace numbers;

  public IndexesSubspace(byte[] databasePrefix) {
    this.prefix = DatabaseSubspace.INDEXES.key(databasePrefix).toBytes();
    this.numbers = new NumbersSubspace(databasePrefix, DatabaseSubspace.INDEXES);
  }

  /** Returns all indexes in the order of their numbers. */
  public CompletableFuture<List<StoredIndex>> all(ReadTransaction tx) {
    return tx.snapshot()
        .getRange(prefix, TupleWriter.startingWith(prefix).octet(0xff).toBytes())
        .asList()
        .thenApply(rows -> rows.stream().map(this::decode).toList());
  }

  public StoredIndex decode(KeyValue row) {
    long number = new TupleReader(row.getKey(), prefix.length).only(TupleReader::integer);
    TupleReader value = FORMAT.reader(row.getValue());
    boolean isReadable = value.bool();
    String design = value.string();
    String name = value.string();
    boolean isPartitioned = value.bool();
    String direction = value.string();
    Optional<JsonObject> filter = filter(value.string());
    List<String> fields = new ArrayList<>();
    while (value.hasNext()) {
      fields.add(value.string());
    }
    return new StoredIndex(
        number,
        new IndexDefinition(design, name, fields, direction, filter, isPartitioned),
        isReadable);
  }

  private static Optional<JsonObject> filter(String json) {
    return json.isEmpty()
        ? Optional.empty()
        : Optional.of((JsonObject) JsonValue.parse(json.getBytes(StandardCharsets.UTF_8)));
  }

  public void put(Transaction tx, StoredIndex index) {
    IndexDefinition definition = index.definition();
    TupleWriter value =
        new TupleWriter(128)
            .integer(FORMAT.number())
            .bool(index.isReadable())
            .string(definition.design())
            .string(definition.name())
            .bool(definition.partitioned())
            .string(definition.direction())
            .string(definition.filter().map(JsonValue::toJson).orElse(""));
    definition.fields().forEach(value::string);
    tx.options().setNextWriteNoWriteConflictRange();
    tx.set(key(index.number()), value.toBytes());
  }

  /**
   * Returns a number that no index of the database has had.
   *
   * @param highest number in use; 0 without any
   */
  public long nextNumber(Transaction tx, long highest) {
    return numbers.next(tx, highest);
  }

  public void clear(Transaction tx, long number) {
    tx.options().setNextWriteNoWriteConflictRange();
    tx.clear(key(number));
    numbers.retire(tx, number);
  }

  private byte[] key(long number) {
    return TupleWriter.startingWith(prefix).integer(number).toBytes();
  }
}
