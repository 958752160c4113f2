package lectus.attachment;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Transaction;
import java.util.Optional;
import java.util.function.Consumer;
import lectus.attachment.ContentsSubspace.StoredContent;
import lectus.attachment.UploadsSubspace.UploadId;
import lectus.database.DatabaseSubspace;
import lectus.document.DocumentsSubspace;
import lectus.document.testing.TestDatabase;
import lectus.revision.RevisionId;
import lectus.store.Store;
import lectus.store.testing.GoldenRows;
import lectus.store.testing.TestStores;
import lectus.store.testing.WrittenRows;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The exact bytes of the contents of attachments, and of what belongs to them. */
final class GoldenAttachmentRowsTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final ContentId CONTENT = new ContentId("00ff" + "ab".repeat(30));
  private static final UploadId UPLOAD = new UploadId("00" + "cd".repeat(15));
  private static final byte[] LEAF =
      DocumentsSubspace.leaf(false, RevisionId.of("3-00112233445566778899aabbccddeeff"));

  private final Store store = stores.fresh();
  private final byte[] db = TestDatabase.create(store).read((tx, handle) -> handle.prefix());

  private GoldenRows golden(String name, Consumer<Transaction> encoder) {
    WrittenRows written = WrittenRows.of(store, DatabaseSubspace.ATTACHMENTS.range(db), encoder);
    GoldenRows golden = GoldenRows.of(name, db, written.stamp());
    golden.assertAre(written.rows());
    return golden;
  }

  @Test
  void contents() {
    ContentsSubspace contents = new ContentsSubspace(db);
    Md5 md5 = new Md5("ee".repeat(16));
    StoredContent content = new StoredContent(UPLOAD, 200_000, md5, 90_000, Optional.empty());
    ContentId zipped = new ContentId("01".repeat(32));
    StoredContent gzip = new StoredContent(UPLOAD, 20, md5, 90_000, Optional.of(0L));
    GoldenRows golden =
        golden(
            "ContentsSubspace",
            tx -> {
              contents.put(tx, CONTENT, content);
              contents.put(tx, zipped, gzip);
            });
    KeyValue row = golden.row("a content");

    assertThat(contents.idOf(row.getKey())).isEqualTo(CONTENT);
    assertThat(contents.decode(row.getValue())).isEqualTo(content);
    assertThat(contents.decode(golden.row("gzip").getValue())).isEqualTo(gzip);
  }

  @Test
  void chunks() {
    ChunksSubspace chunks = new ChunksSubspace(db);
    GoldenRows golden =
        golden(
            "ChunksSubspace",
            tx -> {
              chunks.put(tx, UPLOAD, 0, new byte[] {1, 2});
              chunks.put(tx, UPLOAD, 256, new byte[] {3});
            });

    assertThat(chunks.uploadOf(golden.key("the first chunk"))).isEqualTo(UPLOAD);
  }

  @Test
  void references() {
    ReferencesSubspace references = new ReferencesSubspace(db);
    KeyValue row =
        golden("ReferencesSubspace", tx -> references.put(tx, CONTENT, "ü\0", LEAF))
            .row("a live leaf");

    ReferencesSubspace.Reference found = references.decode(row.getKey(), row.getValue());
    assertThat(found.content()).isEqualTo(CONTENT);
    assertThat(found.docId()).isEqualTo("ü\0");
    assertThat(found.leaf()).isEqualTo(LEAF);
  }

  @Test
  void unused_contents() {
    UnusedSubspace unused = new UnusedSubspace(db);
    KeyValue row =
        golden("UnusedSubspace", tx -> unused.put(tx, CONTENT, 1_000_000)).row("a content");

    assertThat(unused.contentOf(row.getKey())).isEqualTo(CONTENT);
    assertThat(UnusedSubspace.since(row.getValue())).isEqualTo(1_000_000);
  }

  @Test
  void uploads() {
    UploadsSubspace uploads = new UploadsSubspace(db);
    KeyValue row = golden("UploadsSubspace", tx -> uploads.put(tx, UPLOAD, 1_000)).row("an upload");

    assertThat(uploads.uploadOf(row.getKey())).isEqualTo(UPLOAD);
    assertThat(UploadsSubspace.since(row.getValue())).isEqualTo(1_000);
  }
}
