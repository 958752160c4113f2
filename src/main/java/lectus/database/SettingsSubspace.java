package lectus.database;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import java.util.Comparator;
import java.util.Optional;
import lectus.json.MalformedTupleException;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.store.RootSubspace;

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

  /** The name of a setting in CouchDB's configuration, as text {@code section/name}. */
  public record SettingName(String section, String name) implements Comparable<SettingName> {
    private static final Comparator<SettingName> ORDER =
        Comparator.comparing(SettingName::section).thenComparing(SettingName::name);

    /** Parses {@code section/name}; empty if it is nothing of that kind. */
    public static Optional<SettingName> parse(String text) {
      int slash = text.indexOf('/');
      return slash < 1 || slash == text.length() - 1
          ? Optional.empty()
          : Optional.of(new SettingName(text.substring(0, slash), text.substring(slash + 1)));
    }

    @Override
    public int compareTo(SettingName other) {
      return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
      return section + "/" + name;
    }
  }
}
