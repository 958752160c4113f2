package lectus.view;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import lectus.changes.log.GoneSubspace;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Sequence;
import lectus.error.LectusException;
import lectus.json.MalformedTupleException;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.store.Awaiting;

/**
 * The indexes of a database's views, and how far each is.
 *
 * <pre>
 * key    (prefix, VIEWS, 0)             value  (format 1, the highest number given so far)
 * key    (prefix, VIEWS, 1, signature)  value  (format 1, number, salt, views, partitioned)
 * key    (prefix, VIEWS, 2, number)     value  (format 1, phase[, Incarnation, Versionstamp]
 *                                               [, view, level, key])
 * key    (prefix, VIEWS, 3, number, …)  value  a task: see {@link BuildTasks}
 * </pre>
 *
 * Numbers and salts are never used twice. Whoever writes rows of an index reads and writes its
 * state, the last row, with conflicts: of several servers that do the same, one commits.
 */
final class ViewsSubspace {
  static final int MAX_VIEWS = 1_000;

  private static final StoredFormat NUMBERS = new StoredFormat(1, "The number of view indexes");
  private static final StoredFormat INDEXES = new StoredFormat(1, "A view index");
  private static final StoredFormat STATES = new StoredFormat(1, "The state of a view index");

  private final DatabaseHandle db;

  ViewsSubspace(DatabaseHandle db) {
    this.db = db;
  }

  /**
   * An index in a database.
   *
   * @param salt decides which rows begin nodes
   * @param isPartitioned whether each partition has rows of its own
   */
  record Registered(String signature, long number, long salt, int views, boolean isPartitioned) {}

  /** What is true of the rows of an index. */
  enum Phase {
    /** Nodes and rows agree. The index is the database as of a sequence. */
    SETTLED(0),
    /** There are rows, but no nodes yet. */
    BUILDING(1),
    /** As {@code ROWS}; there are nodes up to a place, where 0.2.0 would go on. */
    REPAIR(2),
    /** Tasks of changes shards write rows. */
    TASKS(3),
    /** Rows are cleared of documents that were purged while tasks wrote rows. */
    GONE(4),
    /** It kept too many purged documents waiting. It has no rows, and a query makes another one. */
    DROPPED(5),
    /** There are all rows. Which ranges of them have tasks is not decided yet. */
    ROWS(6),
    /** Tasks of ranges of rows make nodes. */
    NODES(7);

    private final int number;

    Phase(int number) {
      this.number = number;
    }

    /** Whether it is done by tasks. */
    boolean hasTasks() {
      return this == TASKS || this == NODES;
    }

    static Phase numbered(int number) {
      for (Phase phase : values()) {
        if (phase.number == number) {
          return phase;
        }
      }
      throw StoredFormat.newer("The phase of a view index", number, values().length - 1);
    }
  }

  /**
   * How far an index is.
   *
   * @param upTo documents whose entry is not newer are in the index as they are; empty: none
   * @param next in the phase {@code REPAIR} up to where there are nodes; in the phase {@code GONE}
   *     its key says up to where what is gone was looked at; in the phase {@code SETTLED} whether
   *     somebody wrote rows without another sequence
   */
  record State(Phase phase, Optional<Sequence> upTo, Optional<Repaired> next) {
    private static final State DROPPED =
        new State(Phase.DROPPED, Optional.empty(), Optional.empty());

    static final State NEW = new State(Phase.SETTLED, Optional.empty(), Optional.empty());

    static State of(Phase phase, Sequence upTo) {
      return new State(phase, Optional.of(upTo), Optional.empty());
    }

    boolean isSettled() {
      return phase == Phase.SETTLED;
    }

    boolean isDropped() {
      return phase == Phase.DROPPED;
    }

    boolean isBehind(Sequence sequence) {
      return upTo.filter(it -> it.compareTo(sequence) >= 0).isEmpty();
    }

    /**
     * Returns a state of the same sequence, which others can tell from this one: what they read of
     * the index is not true any more.
     */
    State beside(byte[] holder) {
      byte[] times = next.map(Repaired::key).orElse(new byte[0]);
      TupleWriter key = new TupleWriter(Long.BYTES + holder.length);
      long before = times.length == 0 ? 0 : new TupleReader(times, 0).integer();
      key.integer(before + 1).bytes(holder);
      return new State(phase, upTo, Optional.of(new Repaired(0, 0, key.toBytes())));
    }

    /** Returns up to where what is gone was looked at. */
    Optional<Sequence> goneUpTo() {
      return next.map(Repaired::key)
          .filter(it -> it.length > 0)
          .map(it -> new TupleReader(it, 0).only(Sequence::readFrom));
    }

    static State gone(Sequence upTo, Optional<Sequence> lookedAt) {
      TupleWriter key = new TupleWriter(16);
      lookedAt.ifPresent(it -> it.writeTo(key));
      return new State(
          Phase.GONE, Optional.of(upTo), Optional.of(new Repaired(0, 0, key.toBytes())));
    }
  }

  /**
   * A place among the nodes.
   *
   * @param key where the next node begins
   */
  record Repaired(int view, int level, byte[] key) {
    @Override
    public boolean equals(Object other) {
      return other instanceof Repaired it
          && view == it.view
          && level == it.level
          && Arrays.equals(key, it.key);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(key);
    }
  }

  CompletableFuture<Optional<Registered>> find(ReadTransaction tx, String signature) {
    return tx.get(index(signature))
        .thenApply(value -> Optional.ofNullable(value).map(it -> decode(signature, it)));
  }

  /** Returns the index of a definition; makes one if there is none. */
  Registered register(Transaction tx, ViewDefinition definition) {
    Optional<Registered> found = Awaiting.await(find(tx, definition.signature()));
    if (found.isPresent() && !isDropped(tx, found.get())) {
      return found.get();
    }
    found.ifPresent(it -> remove(tx, it));
    int views = all(tx).stream().mapToInt(Registered::views).sum() + definition.views().size();
    if (views > MAX_VIEWS) {
      throw LectusException.badRequest(
          "too_many_views", "A database has at most " + MAX_VIEWS + " views.");
    }
    byte[] highest = Awaiting.await(tx.get(numbers()));
    long number = 1 + (highest == null ? 0 : NUMBERS.reader(highest).only(TupleReader::integer));
    Registered index =
        new Registered(
            definition.signature(),
            number,
            ThreadLocalRandom.current().nextLong(),
            definition.views().size(),
            definition.partitioned());
    put(tx, index);
    write(tx, number, State.NEW);
    new GoneSubspace(db).register(tx, number);
    return index;
  }

  /** Writes an index of a new number, which is the highest so far. */
  void put(Transaction tx, Registered index) {
    tx.set(
        numbers(), new TupleWriter(16).integer(NUMBERS.number()).integer(index.number()).toBytes());
    tx.set(
        index(index.signature()),
        new TupleWriter(32)
            .integer(INDEXES.number())
            .integer(index.number())
            .integer(index.salt())
            .integer(index.views())
            .bool(index.isPartitioned())
            .toBytes());
  }

  /**
   * Registers the indexes of a database that comes from elsewhere. They are made anew, under the
   * numbers and with the salts that they have there.
   *
   * @param rows of the first two parts
   */
  void adopt(Transaction tx, List<KeyValue> rows) {
    for (KeyValue row : rows) {
      check(row);
      tx.set(row.getKey(), row.getValue());
    }
    for (Registered index : all(tx)) {
      write(tx, index.number(), State.NEW);
      new GoneSubspace(db).register(tx, index.number());
    }
  }

  List<Registered> all(ReadTransaction tx) {
    byte[] prefix = indexes().toBytes();
    return Awaiting.await(tx.getRange(Range.startsWith(prefix)).asList()).stream()
        .map(row -> decode(prefix.length, row))
        .toList();
  }

  /** Returns the indexes whose rows can be read. */
  List<Registered> readable(ReadTransaction tx) {
    byte[] prefix = indexes().toBytes();
    List<Registered> readable = new ArrayList<>();
    for (KeyValue row : Awaiting.await(tx.getRange(Range.startsWith(prefix)).asList())) {
      try {
        readable.add(decode(prefix.length, row));
      } catch (MalformedTupleException | IllegalArgumentException unreadable) {
        // Whoever checks the rows names it.
        continue;
      }
    }
    return readable;
  }

  private static Registered decode(int prefix, KeyValue row) {
    byte[] signature = new TupleReader(row.getKey(), prefix).only(TupleReader::bytes);
    return decode(HexFormat.of().formatHex(signature), row.getValue());
  }

  private static Registered decode(String signature, byte[] value) {
    TupleReader reader = INDEXES.reader(value);
    return new Registered(
        signature,
        reader.integer(),
        reader.integer(),
        reader.smallInteger(),
        reader.only(TupleReader::bool));
  }

  void remove(Transaction tx, Registered index) {
    tx.clear(index(index.signature()));
    tx.clear(state(index.number()));
    clear(tx, index);
  }

  /** Removes all rows of an index, which keeps its name. */
  void drop(Transaction tx, Registered index) {
    write(tx, index.number(), State.DROPPED);
    clear(tx, index);
    slowest(tx.snapshot()).ifPresent(it -> new GoneSubspace(db).clear(tx, it));
  }

  boolean isDropped(ReadTransaction tx, Registered index) {
    return Awaiting.await(read(tx, index.number())).filter(State::isDropped).isPresent();
  }

  private void clear(Transaction tx, Registered index) {
    new BuildTasks(db, index.number()).clear(tx);
    tx.clear(Range.startsWith(ViewRows.of(db, index.number())));
    new GoneSubspace(db).unregister(tx, index.number());
  }

  /** Reads the state; empty if the index was removed. Conflicts unless it is a snapshot read. */
  CompletableFuture<Optional<State>> read(ReadTransaction tx, long number) {
    return tx.get(state(number))
        .thenApply(value -> Optional.ofNullable(value).map(ViewsSubspace::decodeState));
  }

  /** Returns the lowest sequence up to which all indexes are; empty if one has nothing yet. */
  Optional<Sequence> slowest(ReadTransaction tx) {
    byte[] prefix = DatabaseSubspace.VIEWS.key(db.prefix()).integer(2).toBytes();
    Optional<Sequence> lowest = Optional.empty();
    for (KeyValue row : Awaiting.await(tx.getRange(Range.startsWith(prefix)).asList())) {
      State state = decodeState(row.getValue());
      if (state.isDropped()) {
        continue;
      }
      Optional<Sequence> upTo = state.upTo();
      if (upTo.isEmpty() || state.phase() == Phase.GONE) {
        return Optional.empty();
      }
      lowest = lowest.filter(it -> it.compareTo(upTo.get()) <= 0).or(() -> upTo);
    }
    return lowest;
  }

  void write(Transaction tx, long number, State state) {
    TupleWriter value = new TupleWriter(64).integer(STATES.number()).integer(state.phase().number);
    state.upTo().ifPresent(it -> it.writeTo(value));
    state.next().ifPresent(it -> value.integer(it.view()).integer(it.level()).bytes(it.key()));
    tx.set(state(number), value.toBytes());
  }

  private static State decodeState(byte[] value) {
    TupleReader reader = STATES.reader(value);
    Phase phase = Phase.numbered(reader.smallInteger());
    Optional<Sequence> upTo =
        reader.hasNext() ? Optional.of(Sequence.readFrom(reader)) : Optional.empty();
    Optional<Repaired> next =
        reader.hasNext()
            ? Optional.of(
                new Repaired(reader.smallInteger(), reader.smallInteger(), reader.bytes()))
            : Optional.empty();
    reader.end();
    return new State(phase, upTo, next);
  }

  /**
   * Checks that a row can be read.
   *
   * @throws lectus.json.MalformedTupleException it cannot
   */
  void check(KeyValue row) {
    TupleReader key =
        new TupleReader(row.getKey(), DatabaseSubspace.VIEWS.key(db.prefix()).length());
    int part = key.smallInteger();
    switch (part) {
      case 0 -> NUMBERS.reader(row.getValue()).only(TupleReader::integer);
      case 1 -> {
        key.bytes();
        decode("", row.getValue());
      }
      case 2 -> {
        key.integer();
        decodeState(row.getValue());
      }
      case 3 -> {
        key.integer();
        BuildTasks.check(row, key.position());
        return;
      }
      default -> throw new MalformedTupleException("There is no part " + part);
    }
    key.end();
  }

  private byte[] numbers() {
    return DatabaseSubspace.VIEWS.key(db.prefix()).integer(0).toBytes();
  }

  private TupleWriter indexes() {
    return DatabaseSubspace.VIEWS.key(db.prefix()).integer(1);
  }

  private byte[] index(String signature) {
    return indexes().bytes(HexFormat.of().parseHex(signature)).toBytes();
  }

  private byte[] state(long number) {
    return DatabaseSubspace.VIEWS.key(db.prefix()).integer(2).integer(number).toBytes();
  }
}
