package lectus.database;

import com.apple.foundationdb.ReadTransaction;
import java.nio.charset.StandardCharsets;
import lectus.store.Awaiting;

/** The security object as JSON, which handles do not keep. */
final class StoredSecurity {
  private static final String UNSET =
      "{\"members\":{\"roles\":[\"_admin\"]},\"admins\":{\"roles\":[\"_admin\"]}}";

  private StoredSecurity() {}

  /** Returns CouchDB's default, which is shown where none was ever stored. */
  static byte[] unset() {
    return UNSET.getBytes(StandardCharsets.UTF_8);
  }

  static byte[] read(ReadTransaction tx, DatabaseHandle db) {
    byte[] value = Awaiting.await(tx.get(ConfigSubspace.securityKey(db.prefix())));
    return value == null ? unset() : ConfigSubspace.securityJson(value);
  }
}
