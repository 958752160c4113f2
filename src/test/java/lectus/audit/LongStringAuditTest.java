package lectus.audit;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.Arrays;
import java.util.List;
import lectus.database.DatabaseHandle;
import lectus.document.DocumentsSubspace;
import lectus.document.read.LocalDocsSubspace;
import lectus.document.testing.TestDatabase;
import lectus.json.TupleWriter;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The audit finds any damage to the rows of a long string. */
class LongStringAuditTest {
  private static final byte[] VALUE = {1};
  private static final int ROWS = 4;

  /** A string in four rows, the last of 50 003 bytes, and another member. */
  private static final String LONG = "{\"s\":\"" + "x".repeat(349_998) + "\",\"t\":1}";

  @RegisterExtension static final TestStores stores = new TestStores();

  private final Store store = stores.fresh();
  private final TestDatabase db = TestDatabase.create(store);
  private final AuditedStore audited = new AuditedStore(store, db.transactions);
  private final DatabaseHandle handle = db.catalogue.open(db.name);

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void a_row_is_lost(int row) {
    byte[] key = rowsOfString().get(row);
    audited.corrupt(tx -> tx.clear(key));

    audited.assertFound("document \"long\"", "the body of 1-", "its branch says");
    audited.assertFound("document \"long\"", "cannot be read (");
  }

  @Test
  void there_is_a_row_too_many() {
    byte[] next = lastRow();
    next[next.length - 1]++;
    audited.corrupt(tx -> tx.set(next, VALUE));

    audited.assertFound(
        "document \"long\"", "a part of a body cannot be read", "A leaf has other leaves below it");
  }

  @Test
  void a_row_has_another_number() {
    byte[] last = lastRow();
    byte[] other = last.clone();
    other[other.length - 1] = 9;
    audited.corrupt(
        tx -> {
          tx.set(other, Awaiting.await(tx.get(last)));
          tx.clear(last);
        });

    audited.assertFound(
        "document \"long\"", "a part of a body cannot be read", "lacks 50003 of its 349998");
  }

  @Test
  void a_row_is_short() {
    byte[] key = rowsOfString().get(2);
    audited.corrupt(tx -> tx.set(key, VALUE));

    audited.assertFound(
        "document \"long\"", "cannot be read (A string in pieces lacks 99999 of its");
  }

  @Test
  void a_row_lies_under_another_member() {
    byte[] key = rowsOfString().get(1);
    int body =
        new DocumentsSubspace(handle).revision("long", false, db.winner("long").leaf()).length;
    byte[] elsewhere =
        ByteArrayUtil.join(
            Arrays.copyOf(key, body),
            new TupleWriter(8).string("t").toBytes(),
            Arrays.copyOfRange(key, key.length - 3, key.length));
    audited.corrupt(tx -> tx.set(elsewhere, Awaiting.await(tx.get(key))));

    audited.assertFound("document \"long\"", "a part of a body cannot be read");
  }

  @Test
  void a_local_document_lacks_a_row() {
    db.write(TestDatabase.local("_local/long", "0-0", LONG));
    assertThat(audited.findings()).isEmpty();
    byte[] last = rows(new LocalDocsSubspace(handle).body("_local/long")).get(ROWS - 1);
    audited.corrupt(tx -> tx.clear(last));

    audited.assertFound(
        "document \"_local/long\"", "its body cannot be read (A string in pieces lacks");
  }

  private byte[] lastRow() {
    return rowsOfString().get(ROWS - 1).clone();
  }

  /** Returns the keys of the string in an undamaged document. */
  private List<byte[]> rowsOfString() {
    db.put("long", LONG);
    assertThat(audited.findings()).isEmpty();
    List<byte[]> metadataStringAndOther = rows(new DocumentsSubspace(handle).document("long"));
    assertThat(metadataStringAndOther).hasSize(1 + ROWS + 1);
    return metadataStringAndOther.subList(1, 1 + ROWS);
  }

  private List<byte[]> rows(byte[] prefix) {
    return db.read(
        (tx, database) ->
            Awaiting.await(tx.getRange(prefix, DocumentsSubspace.endOf(prefix)).asList()).stream()
                .map(KeyValue::getKey)
                .toList());
  }
}
