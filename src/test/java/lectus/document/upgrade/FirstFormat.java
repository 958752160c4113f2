package lectus.document.upgrade;

import com.apple.foundationdb.Transaction;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Generation;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.database.StatisticsDelta;
import lectus.document.testing.TestDatabase;
import lectus.json.ExplodedBody;
import lectus.json.Leaf;
import lectus.store.RootSubspace;
import lectus.store.Store;
import lectus.tuple.TupleWriter;

/**
 * Writes documents like servers of the first format, with an independent encoding and order:
 * thirty-two hex digits are sixteen bytes, any other hash is a string, and strings are higher.
 */
final class FirstFormat {
  private final TestDatabase target;
  private final DatabaseHandle db;
  private final byte[] stamp;
  private int documents;

  /** A leaf revision; a tombstone whose {@code json} is {@code {}} has no body. */
  record Revision(String text, boolean deleted, String json, List<String> ancestors) {
    static Revision of(String text) {
      return new Revision(text, false, "{\"of\":\"" + text.replace("\0", "") + "\"}", List.of());
    }

    static Revision tombstone(String text) {
      return new Revision(text, true, "{}", List.of());
    }

    Revision below(String... hashes) {
      return new Revision(text, deleted, json, List.of(hashes));
    }

    Revision with(String body) {
      return new Revision(text, deleted, body, ancestors);
    }

    long position() {
      return Long.parseLong(text.substring(0, text.indexOf('-')));
    }

    String hash() {
      return text.substring(text.indexOf('-') + 1);
    }

    ExplodedBody body() {
      return TestDatabase.edit("a", null, json).body();
    }

    boolean hasBody() {
      return !deleted || !body().isEmpty();
    }
  }

  private static final Comparator<Revision> OLD_ORDER =
      Comparator.comparing((Revision it) -> !it.deleted)
          .thenComparing(Revision::position)
          .thenComparing(it -> !isHex(it.hash()))
          .thenComparing(it -> bytes(it.hash()), Arrays::compareUnsigned);

  /**
   * @param database a new one, which has the first format from now on; no other server may know it
   *     yet
   */
  FirstFormat(TestDatabase database) {
    this.target = database;
    this.db = database.catalogue.open(database.name);
    this.stamp =
        database
            .transactions
            .runVersioned(
                tx -> {
                  tx.clear(DatabaseSubspace.CONFIG.key(db.prefix()).string("format").toBytes());
                  forgetStore(tx, database.store);
                  database.catalogue.noteUpdate(tx, db);
                  return null;
                })
            .versionstamp();
  }

  static void forgetStore(Transaction tx, Store store) {
    tx.clear(RootSubspace.FORMAT.range(store.rootPrefix()));
  }

  /** Writes a document with these leaves. */
  void lay(String id, Revision... leaves) {
    Sequence sequence = Sequence.of(0, stamp, documents++);
    target.transactions.run(
        tx -> {
          lay(tx, id, List.of(leaves), sequence);
          target.catalogue.noteUpdate(tx, db);
          return null;
        });
  }

  /** Does the same in the caller's transaction. */
  void lay(Transaction tx, String id, Revision... leaves) {
    lay(tx, id, List.of(leaves), Sequence.of(0, stamp, documents++));
  }

  private void lay(Transaction tx, String id, List<Revision> leaves, Sequence sequence) {
    Revision winner = leaves.stream().max(OLD_ORDER).orElseThrow();
    StatisticsDelta counters = new StatisticsDelta(false);
    for (Revision leaf : leaves) {
      long stored = leaf.hasBody() ? putBody(tx, id, leaf) : 0;
      long external = leaf.hasBody() ? leaf.body().jsonBytes() : 0;
      TupleWriter value = new TupleWriter(64).integer(1);
      if (leaf == winner) {
        sequence.writeTo(value);
        value.integer(leaves.size());
      } else {
        value.nil();
      }
      value.integer(external).integer(stored).nil().raw(ancestors(leaf.ancestors()));
      tx.set(key(DatabaseSubspace.REVISIONS, id, leaf).toBytes(), value.toBytes());
      counters.add(id, 0, 0, external, stored);
    }
    counters.add(id, winner.deleted() ? 0 : 1, winner.deleted() ? 1 : 0, 0, 0);
    index(tx, id, winner, leaves.size(), sequence);
    Generation generation = db.topology().current();
    counters.addEntries(generation, generation.shards().get(0), id, 1);
    counters.applyTo(tx, db);
  }

  private void index(Transaction tx, String id, Revision winner, int count, Sequence sequence) {
    if (!winner.deleted()) {
      TupleWriter row = new TupleWriter(32).integer(1).integer(winner.position());
      hash(row, winner.hash()).integer(count);
      tx.set(DatabaseSubspace.ALL_DOCS.key(db.prefix()).string(id).toBytes(), row.toBytes());
    }
    ShardId shard = db.topology().current().shards().get(0);
    TupleWriter key = DatabaseSubspace.CHANGES.key(db.prefix()).string(shard.text());
    sequence.writeTo(key);
    TupleWriter entry = new TupleWriter(64).integer(1).string(id).integer(winner.position());
    hash(entry, winner.hash()).integer(count).bool(!winner.deleted());
    tx.set(key.toBytes(), entry.toBytes());
  }

  private long putBody(Transaction tx, String id, Revision leaf) {
    byte[] revision = key(DatabaseSubspace.DOCUMENTS, id, leaf).toBytes();
    byte[] metadata = new TupleWriter(4).integer(1).toBytes();
    tx.set(revision, metadata);
    long stored = revision.length + metadata.length;
    for (Leaf part : leaf.body().leaves()) {
      tx.set(TupleWriter.startingWith(revision).raw(part.path()).toBytes(), part.value());
      stored += revision.length + part.path().length + part.value().length;
    }
    return stored;
  }

  /** Returns a key of REVISIONS or of a body's metadata. */
  TupleWriter key(DatabaseSubspace subspace, String id, Revision leaf) {
    TupleWriter key = subspace.key(db.prefix()).string(id).bool(!leaf.deleted());
    return hash(key.integer(leaf.position()), leaf.hash());
  }

  private static TupleWriter hash(TupleWriter tuple, String hash) {
    return isHex(hash) ? tuple.bytes(bytes(hash)) : tuple.string(hash);
  }

  private static byte[] ancestors(List<String> hashes) {
    TupleWriter list = new TupleWriter(64);
    boolean mixed = hashes.stream().anyMatch(it -> !isHex(it));
    for (String hash : hashes) {
      if (mixed) {
        list.octet(isHex(hash) ? 0 : bytes(hash).length);
      }
      list.raw(bytes(hash));
    }
    return hashes.isEmpty()
        ? new byte[0]
        : new TupleWriter(64).octet(mixed ? 1 : 0).raw(list.toBytes()).toBytes();
  }

  static boolean isHex(String hash) {
    return hash.matches("[0-9a-f]{32}");
  }

  /** Returns CouchDB's raw bytes of a hash. */
  static byte[] bytes(String hash) {
    return isHex(hash) ? HexFormat.of().parseHex(hash) : hash.getBytes(StandardCharsets.UTF_8);
  }

  /** Returns the leaf that an earlier server considered the winner. */
  static Optional<Revision> oldWinner(Revision... leaves) {
    return Arrays.stream(leaves).max(OLD_ORDER);
  }
}
