package lectus.database;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import lectus.database.SettingsSubspace.SettingName;
import lectus.error.LectusException;
import lectus.json.MalformedTupleException;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;

/** The settings that the store has in place of those of its servers' configuration files. */
public final class StoredSettings {
  /** More than there are; all of them are read at once. */
  static final int MOST = 200;

  /** Of a section, and of a name in it. */
  static final int MAX_NAME_BYTES = 128;

  static final int MAX_TEXT_BYTES = 8_192;

  private final SettingsSubspace rows;
  private final TransactionRunner transactions;

  public StoredSettings(Store store) {
    this(store, new TransactionRunner(store, TransactionLimits.DEFAULT));
  }

  public StoredSettings(Store store, TransactionRunner transactions) {
    this.rows = new SettingsSubspace(store.rootPrefix());
    this.transactions = transactions;
  }

  /**
   * Returns the values by name, in the order of the names. A value that this version cannot read is
   * empty.
   */
  public Map<SettingName, Optional<String>> all() {
    Map<SettingName, Optional<String>> all = new TreeMap<>();
    for (KeyValue row : transactions.read(this::read)) {
      rows.nameIn(row.getKey()).ifPresent(name -> all.put(name, text(row.getValue())));
    }
    return all;
  }

  /**
   * Sets a value, whatever it means.
   *
   * @return the former one; empty if there was none that can be read
   * @throws LectusException {@code bad_request}: the name or the value is too long; {@code
   *     forbidden}: there are too many
   */
  public Optional<String> put(SettingName name, String text) {
    checkLength("section", name.section(), MAX_NAME_BYTES);
    checkLength("name", name.name(), MAX_NAME_BYTES);
    checkLength("value", text, MAX_TEXT_BYTES);
    return transactions.run(
        tx -> {
          byte[] former = Awaiting.await(tx.get(rows.key(name)));
          if (former == null) {
            checkNumber(tx);
          }
          tx.set(rows.key(name), SettingsSubspace.value(text));
          return Optional.ofNullable(former).flatMap(StoredSettings::text);
        });
  }

  /**
   * @return the value; empty if there was none that can be read
   */
  public Optional<String> remove(SettingName name) {
    return transactions.run(
        tx -> {
          byte[] former = Awaiting.await(tx.get(rows.key(name)));
          tx.clear(rows.key(name));
          return Optional.ofNullable(former).flatMap(StoredSettings::text);
        });
  }

  private List<KeyValue> read(ReadTransaction tx) {
    return Awaiting.await(tx.getRange(rows.range(), MOST).asList());
  }

  private void checkNumber(Transaction tx) {
    if (read(tx).size() == MOST) {
      throw LectusException.forbidden("There are " + MOST + " settings, which is the limit.");
    }
  }

  private static void checkLength(String what, String text, int most) {
    if (text.getBytes(StandardCharsets.UTF_8).length > most) {
      throw LectusException.badRequest(
          "The " + what + " of a setting has " + most + " bytes at most.");
    }
  }

  private static Optional<String> text(byte[] value) {
    try {
      return Optional.of(SettingsSubspace.text(value));
    } catch (MalformedTupleException unreadable) {
      return Optional.empty();
    }
  }
}
