package lectus.audit;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.Transaction;
import java.util.Optional;
import java.util.function.BiConsumer;
import lectus.attachment.AttachmentKeys;
import lectus.attachment.ChunksSubspace;
import lectus.attachment.ContentId;
import lectus.attachment.ContentStore;
import lectus.attachment.ContentUpload;
import lectus.attachment.ReferencesSubspace;
import lectus.attachment.ResumableUpload;
import lectus.attachment.ResumablesSubspace;
import lectus.attachment.UnusedSubspace;
import lectus.attachment.UploadName;
import lectus.attachment.UploadPiece;
import lectus.attachment.UploadTarget;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.document.testing.TestDatabase;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import lectus.tuple.TupleWriter;
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
  void an_upload_that_has_begun_anew_since_it_was_looked_at_stays() {
    UploadName name = UploadName.of(Optional.empty(), "u");
    ContentStore contents = new ContentStore(db.catalogue, db.transactions);
    ResumableUpload upload = piece(contents, name);
    corrupt((tx, prefix) -> new ChunksSubspace(prefix).clear(tx, upload.chunks()));
    Repair repair = audited.findings().get(0).repair().orElseThrow();
    corrupt((tx, prefix) -> new ResumablesSubspace(prefix).clear(tx, name));
    ResumableUpload now = piece(contents, name);

    corrupt((tx, prefix) -> repair.change().accept(tx));

    Optional<ResumableUpload> left =
        db.read((tx, handle) -> new ResumablesSubspace(handle.prefix()).get(tx, name).join());
    assertThat(left).contains(now);
  }

  private ResumableUpload piece(ContentStore contents, UploadName name) {
    UploadPiece piece =
        contents.resumables().piece(db.name, name, UploadTarget.of("doc", "f"), 0, 300_000);
    piece.write(new byte[100_000], 0, 100_000);
    return piece.finish();
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

  @Test
  void an_upload_in_pieces_has_lost_its_last_chunk_or_its_row() {
    UploadName name = UploadName.of(Optional.empty(), "u");
    UploadPiece piece =
        new ContentStore(db.catalogue, db.transactions)
            .resumables()
            .piece(db.name, name, UploadTarget.of("doc", "f"), 0, 200_000);
    piece.write(new byte[100_000], 0, 100_000);
    ResumableUpload upload = piece.finish();
    assertThat(audited.findings()).isEmpty();

    corrupt((tx, prefix) -> new ChunksSubspace(prefix).put(tx, upload.chunks(), 1, new byte[9]));
    audited.assertFound("database \"db\"", "the upload u lacks bytes");
    corrupt((tx, prefix) -> new ResumablesSubspace(prefix).clear(tx, name));
    audited.assertFound("database \"db\"", "chunks are left of");
  }
}
