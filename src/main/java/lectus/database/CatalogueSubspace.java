package lectus.database;

import com.apple.foundationdb.Range;
import lectus.store.RootSubspace;
import lectus.tuple.MalformedTupleException;
import lectus.tuple.TupleReader;
import lectus.tuple.TupleWriter;

/**
 * Which databases there are, in the order of their names.
 *
 * <pre>
 * key                       value
 * (root, 0, name)           (format, instance, prefix, seconds since 1970 at creation)
 * </pre>
 */
final class CatalogueSubspace {
  private static final int FORMAT = 1;

  private final byte[] subspace;

  CatalogueSubspace(byte[] root) {
    subspace = RootSubspace.CATALOGUE.key(root).toBytes();
  }

  /** One life of a database. */
  record Entry(InstanceId instance, byte[] prefix, long createdAtSeconds) {}

  Range range() {
    return Range.startsWith(subspace);
  }

  byte[] key(String name) {
    return TupleWriter.startingWith(subspace).string(name).toBytes();
  }

  DatabaseName name(byte[] key) {
    return new DatabaseName(new TupleReader(key, subspace.length).string());
  }

  byte[] value(Entry entry) {
    return new TupleWriter(64)
        .integer(FORMAT)
        .string(entry.instance().hex())
        .bytes(entry.prefix())
        .integer(entry.createdAtSeconds())
        .toBytes();
  }

  Entry entry(byte[] value) {
    TupleReader reader = new TupleReader(value, 0);
    if (reader.smallInteger() != FORMAT) {
      throw new MalformedTupleException("An unknown format of a catalogue entry");
    }
    return new Entry(new InstanceId(reader.string()), reader.bytes(), reader.integer());
  }
}
