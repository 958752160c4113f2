package lectus.audit;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.Transaction;
import java.util.Optional;
import java.util.function.BiConsumer;
import lectus.attachment.AttachmentIntake.ContentStore;
import lectus.attachment.AttachmentKeys;
import lectus.attachment.ContentId;
import lectus.attachment.ContentUpload;
import lectus.attachment.ContentsSubspace;
import lectus.attachment.ContentsSubspace.StoredContent;
import lectus.attachment.ReferencesSubspace;
import lectus.attachment.UnusedSubspace;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.document.testing.TestDatabase;
import lectus.json.TupleWriter;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The audit finds contents that are damaged, lost or forgotten. */
class AttachmentsAuditTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final Store store = stores.fresh();
  private final TestDatabase db = TestDatabase.create(store);
  private final AuditedStore audited = new AuditedStore(store, db.transactions);
  private final DatabaseHandle handle = db.catalogue.open(db.name);
  private ContentId content;

  @BeforeEach
  void a_content_and_an_upload() {
    content = upload(new byte[100_000]).finish(Optional.empty()).id();
    upload(new byte[1_000_000]);
    assertThat(audited.findings()).isEmpty();
  }

  private ContentUpload upload(byte[] bytes) {
    ContentUpload upload = new ContentStore(db.catalogue, db.transactions).begin(db.name);
    upload.write(bytes, 0, bytes.length);
    return upload;
  }

  private void corrupt(BiConsumer<Transaction, byte[]> change) {
    audited.corrupt(tx -> change.accept(tx, handle.prefix()));
  }

  private void clear(AttachmentKeys part) {
    corrupt((tx, prefix) -> tx.clear(part.range(prefix)));
  }

  @Test
  void a_chunk_is_lost() {
    clear(AttachmentKeys.CHUNKS);
    audited.assertFound("database \"db\"", "the content " + content.hex(), "is damaged");
  }

  @Test
  void a_content_is_lost() {
    clear(AttachmentKeys.CONTENTS);
    audited.assertFound("database \"db\"", "chunks are left of");
  }

  @Test
  void a_content_gets_the_length_that_it_has_when_decompressed() {
    byte[] gzip = {31, -117, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    ContentId empty = upload(gzip).finish(Optional.of(5L)).id();
    audited.assertFound("database \"db\"", "the content " + empty.hex(), "does not decompress");

    SoundStore.repair(db.store);

    Optional<StoredContent> left =
        db.read((tx, handle) -> new ContentsSubspace(handle.prefix()).get(tx, empty).join());
    assertThat(left.orElseThrow().plainLength()).contains(0L);
  }

  @Test
  void a_content_that_came_again_since_it_was_found_damaged_stays() {
    clear(AttachmentKeys.CHUNKS);
    Repair repair = audited.findings().get(0).repair().orElseThrow();
    clear(AttachmentKeys.CONTENTS);
    content = upload(new byte[100_000]).finish(Optional.empty()).id();

    corrupt((tx, prefix) -> repair.change().accept(tx));

    Optional<StoredContent> left =
        db.read((tx, handle) -> new ContentsSubspace(handle.prefix()).get(tx, content).join());
    assertThat(left).isPresent();
  }

  @Test
  void an_upload_is_lost() {
    clear(AttachmentKeys.UPLOADS);
    audited.assertFound("database \"db\"", "chunks are left of");
  }

  @Test
  void a_content_is_forgotten() {
    corrupt((tx, prefix) -> new UnusedSubspace(prefix).clear(tx, content));
    audited.assertFound("database \"db\"", "the content " + content.hex(), "the sweeper");
  }

  @Test
  void a_reference_leads_nowhere() {
    ContentId other = new ContentId("ab".repeat(32));
    byte[] leaf = new TupleWriter(8).bool(true).integer(1).bytes(new byte[16]).toBytes();
    corrupt((tx, prefix) -> new ReferencesSubspace(prefix).put(tx, other, "doc", leaf));
    audited.assertFound("document \"doc\"", "refers to the content " + other.hex());
  }

  @Test
  void rows_of_all_parts_are_unreadable() {
    byte[] garbage = {1};
    for (AttachmentKeys part : AttachmentKeys.values()) {
      corrupt((tx, prefix) -> tx.set(part.key(prefix).octet(1).toBytes(), garbage));
    }
    assertThat(audited.findings()).hasSizeGreaterThanOrEqualTo(AttachmentKeys.values().length);
  }

  @Test
  void a_row_belongs_to_no_part() {
    corrupt(
        (tx, prefix) ->
            tx.set(DatabaseSubspace.ATTACHMENTS.key(prefix).integer(99).toBytes(), new byte[] {1}));
    audited.assertFound("database \"db\"", "something of attachments that belongs to none");
  }
}
