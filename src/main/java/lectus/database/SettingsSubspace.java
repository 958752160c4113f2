package lectus.database;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import java.util.Optional;
import lectus.store.RootSubspace;
import lectus.tuple.MalformedTupleException;
import lectus.tuple.StoredFormat;
import lectus.tuple.TupleReader;
import lectus.tuple.TupleWriter;

/**
 * The store's settings.
 *
 * <pre>
 * key                             value
 * (root, SETTINGS, section, name)  (format 1, text)
 * </pre>
 *
 * Section and name are CouchDB's, the text is the value as CouchDB writes it.
 */
public final class SettingsSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "A setting");

  private final byte[] root;

  public SettingsSubspace(byte[] rootPrefix) {
    this.root = rootPrefix;
  }

  public Range range() {
    return RootSubspace.SETTINGS.range(root);
  }

  byte[] key(SettingName name) {
    return RootSubspace.SETTINGS.key(root).string(name.section()).string(name.name()).toBytes();
  }

  static byte[] value(String text) {
    return new TupleWriter(64).integer(FORMAT.number()).string(text).toBytes();
  }

  /**
   * @throws MalformedTupleException if it is damaged, or a newer version wrote it
   */
  static String text(byte[] value) {
    return FORMAT.reader(value).only(TupleReader::string);
  }

  /** Returns whose key it is; empty if this version cannot read it. */
  Optional<SettingName> nameIn(byte[] key) {
    try {
      return Optional.of(name(key));
    } catch (MalformedTupleException unreadable) {
      return Optional.empty();
    }
  }

  private SettingName name(byte[] key) {
    TupleReader reader = new TupleReader(key, RootSubspace.SETTINGS.key(root).length());
    return reader.only(it -> new SettingName(it.string(), it.string()));
  }

  /**
   * Checks a row and returns the name of its setting.
   *
   * @throws MalformedTupleException if the row does not belong to this subspace
   */
  public SettingName check(KeyValue row) {
    text(row.getValue());
    return name(row.getKey());
  }
}
