package lectus.audit;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.security.MessageDigest;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Stream;
import lectus.attachment.AttachmentKeys;
import lectus.attachment.ByteSource;
import lectus.attachment.ChunksSubspace;
import lectus.attachment.ContentId;
import lectus.attachment.ContentsSubspace;
import lectus.attachment.Digests;
import lectus.attachment.Md5;
import lectus.attachment.ReferencesSubspace;
import lectus.attachment.ResumableUpload;
import lectus.attachment.ResumablesSubspace;
import lectus.attachment.StoredContent;
import lectus.attachment.UnusedSubspace;
import lectus.attachment.Unzipped;
import lectus.attachment.UploadId;
import lectus.attachment.UploadName;
import lectus.attachment.UploadsSubspace;
import lectus.database.DatabaseSubspace;
import lectus.document.body.DocumentsSubspace;
import lectus.error.LectusException;
import lectus.store.Awaiting;

/**
 * Audits the contents of attachments: each is whole and has its hash, each is referred to or known
 * to the sweeper, and every chunk belongs to one or to an upload.
 */
final class AttachmentsAudit {
  private final Reading reading;
  private final AuditedDatabase database;
  private final AuditReport report;
  private final byte[] prefix;
  private final ContentsSubspace contents;
  private final ChunksSubspace chunks;
  private final ReferencesSubspace references;
  private final UnusedSubspace unused;
  private final UploadsSubspace uploads;
  private final ResumablesSubspace resumables;
  private final DocumentsSubspace documents;

  AttachmentsAudit(Reading reading, AuditedDatabase database, AuditReport report) {
    this.reading = reading;
    this.database = database;
    this.report = report;
    this.prefix = database.handle().prefix();
    this.contents = new ContentsSubspace(prefix);
    this.chunks = new ChunksSubspace(prefix);
    this.references = new ReferencesSubspace(prefix);
    this.unused = new UnusedSubspace(prefix);
    this.uploads = new UploadsSubspace(prefix);
    this.resumables = new ResumablesSubspace(prefix);
    this.documents = new DocumentsSubspace(database.handle());
  }

  void run() {
    each(AttachmentKeys.CONTENTS, "A content", this::checkContent);
    new ChunksAudit(reading, database, report).run();
    each(AttachmentKeys.REFERENCES, "A reference to a content", this::checkReference);
    each(AttachmentKeys.UNUSED, "A row of the unused contents", this::checkUnused);
    each(AttachmentKeys.UPLOADS, "An upload", this::checkUpload);
    each(AttachmentKeys.RESUMABLES, "An upload in pieces", this::checkResumable);
    new RowsCheck(reading, report, database.place())
        .others(
            DatabaseSubspace.ATTACHMENTS.range(prefix),
            Stream.of(AttachmentKeys.values()).map(it -> it.range(prefix)).toList(),
            "something of attachments that belongs to none");
  }

  private void each(AttachmentKeys part, String what, Consumer<KeyValue> check) {
    new RowsCheck(reading, report, database.place()).each(what, part.range(prefix), check);
  }

  private void checkContent(KeyValue row) {
    ContentId id = contents.idOf(row.getKey());
    StoredContent content = contents.decode(row.getValue());
    if (!isWhole(id, content) && isThere(id, content)) {
      complain(id, "is damaged: its chunks do not have its hash and length");
    }
    if (content.plainLength().isPresent()
        && !content.plainLength().equals(plainLength(content))
        && isThere(id, content)) {
      complain(id, "does not decompress to the length that its row says");
    }
    if (reading.<Boolean>read(tx -> isForgotten(tx, id))) {
      complain(id, "has no reference, and the sweeper does not know it");
    }
  }

  private boolean isWhole(ContentId id, StoredContent content) {
    MessageDigest sha256 = Digests.sha256();
    MessageDigest md5 = Digests.md5();
    AtomicLong length = new AtomicLong();
    eachChunk(
        content.upload(),
        chunk -> {
          sha256.update(chunk);
          md5.update(chunk);
          length.addAndGet(chunk.length);
        });
    return length.get() == content.length()
        && ContentId.of(sha256.digest()).equals(id)
        && Md5.of(md5.digest()).equals(content.md5());
  }

  /** Returns the length of the content when decompressed; empty if it is no gzip. */
  private Optional<Long> plainLength(StoredContent content) {
    RowCursor rows = new RowCursor(reading, chunks.range(content.upload()));
    ByteSource plain = new Unzipped(() -> rows.hasNext() ? rows.next().getValue() : new byte[0]);
    long length = 0;
    try {
      for (byte[] next = plain.next(); next.length > 0; next = plain.next()) {
        length += next.length;
      }
      return Optional.of(length);
    } catch (LectusException none) {
      return Optional.empty();
    }
  }

  private void eachChunk(UploadId upload, Consumer<byte[]> sink) {
    new RowsCheck(reading, report, database.place())
        .each(
            "A chunk",
            chunks.range(upload),
            row -> {
              chunks.uploadOf(row.getKey());
              sink.accept(row.getValue());
            });
  }

  /** A content that was swept while its chunks were read is not damaged. */
  private boolean isThere(ContentId id, StoredContent content) {
    return reading
        .<Optional<StoredContent>>read(tx -> Awaiting.await(contents.get(tx, id)))
        .equals(Optional.of(content));
  }

  private boolean isForgotten(ReadTransaction tx, ContentId id) {
    return Awaiting.await(contents.get(tx, id)).isPresent()
        && Awaiting.await(unused.since(tx, id)).isEmpty()
        && !Awaiting.await(references.any(tx, id));
  }

  private void checkReference(KeyValue row) {
    ReferencesSubspace.Reference reference = references.decode(row.getKey(), row.getValue());
    if (reading.<Boolean>read(tx -> isDangling(tx, reference))) {
      report.add(
          database.place(reference.docId()),
          "it refers to the content "
              + reference.content().hex()
              + ", which is not there, or which it does not show");
    }
  }

  private boolean isDangling(ReadTransaction tx, ReferencesSubspace.Reference it) {
    return Awaiting.await(references.contains(tx, it.content(), it.docId(), it.leaf()))
        && (Awaiting.await(contents.get(tx, it.content())).isEmpty() || !isShown(tx, it));
  }

  private boolean isShown(ReadTransaction tx, ReferencesSubspace.Reference it) {
    byte[] metadata = ByteArrayUtil.join(documents.document(it.docId()), it.leaf());
    byte[] value = Awaiting.await(tx.get(metadata));
    return value != null
        && DocumentsSubspace.attachmentsIn(value).contents().contains(it.content());
  }

  private void checkUnused(KeyValue row) {
    unused.contentOf(row.getKey());
    UnusedSubspace.since(row.getValue());
  }

  private void checkUpload(KeyValue row) {
    UploadsSubspace.since(row.getValue());
    eachChunk(uploads.uploadOf(row.getKey()), chunk -> {});
  }

  private void checkResumable(KeyValue row) {
    UploadName name = resumables.nameOf(row.getKey());
    ResumableUpload upload = ResumablesSubspace.decode(row.getValue());
    eachChunk(upload.chunks(), chunk -> {});
    if (!reading.<Boolean>read(tx -> isLastChunkThere(tx, name))) {
      report.add(
          database.place(),
          "the upload " + name.text() + " lacks bytes of the " + upload.received() + " that came");
    }
  }

  /** Looks at the row as it is now: the upload may go on, or be over. */
  private boolean isLastChunkThere(ReadTransaction tx, UploadName name) {
    Optional<ResumableUpload> now = Awaiting.await(resumables.get(tx, name));
    if (now.isEmpty()) {
      return true;
    }
    byte[] last = Awaiting.await(chunks.get(tx, now.get().chunks(), now.get().lastChunk()));
    return last != null && last.length == now.get().lastChunkBytes();
  }

  private void complain(ContentId id, String problem) {
    report.add(database.place(), "the content " + id.hex() + " " + problem);
  }
}
