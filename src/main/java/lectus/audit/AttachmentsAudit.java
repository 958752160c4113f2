package lectus.audit;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.security.MessageDigest;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import lectus.attachment.AttachmentKeys;
import lectus.attachment.ByteSource;
import lectus.attachment.ChunksSubspace;
import lectus.attachment.ContentId;
import lectus.attachment.ContentsSubspace;
import lectus.attachment.ContentsSubspace.StoredContent;
import lectus.attachment.Digests;
import lectus.attachment.GzipReader.Unzipped;
import lectus.attachment.Md5;
import lectus.attachment.ReferencesSubspace;
import lectus.attachment.UnusedSubspace;
import lectus.attachment.UploadsSubspace;
import lectus.attachment.UploadsSubspace.UploadId;
import lectus.audit.DatabaseAudit.AuditedDatabase;
import lectus.audit.Reading.RowCursor;
import lectus.database.DatabaseSubspace;
import lectus.document.DocumentsSubspace;
import lectus.document.RevisionMetadata;
import lectus.error.LectusException;
import lectus.json.MalformedTupleException;
import lectus.store.Awaiting;

/**
 * Audits the contents of attachments: each is whole and has its hash, each is referred to or known
 * to the sweeper, and every chunk belongs to one or to an upload.
 */
final class AttachmentsAudit {
  private final Reading reading;
  private final AuditedDatabase database;
  private final AuditReport report;
  private final RowsCheck rows;
  private final byte[] prefix;
  private final ContentsSubspace contents;
  private final ChunksSubspace chunks;
  private final ReferencesSubspace references;
  private final UnusedSubspace unused;
  private final UploadsSubspace uploads;
  private final DocumentsSubspace documents;

  AttachmentsAudit(Reading reading, AuditedDatabase database, AuditReport report) {
    this.reading = reading;
    this.database = database;
    this.report = report;
    this.rows = new RowsCheck(reading, report, database.place());
    this.prefix = database.handle().prefix();
    this.contents = new ContentsSubspace(prefix);
    this.chunks = new ChunksSubspace(prefix);
    this.references = new ReferencesSubspace(prefix);
    this.unused = new UnusedSubspace(prefix);
    this.uploads = new UploadsSubspace(prefix);
    this.documents = new DocumentsSubspace(database.handle());
  }

  void run() {
    each(AttachmentKeys.CONTENTS, "A content", this::decodeContent, this::checkContent);
    new ChunksAudit().run();
    each(
        AttachmentKeys.REFERENCES,
        "A reference to a content",
        row -> references.decode(row.getKey(), row.getValue()),
        this::checkReference);
    each(
        AttachmentKeys.UNUSED,
        "A row of the unused contents",
        row -> {
          unused.contentOf(row.getKey());
          UnusedSubspace.since(row.getValue());
        },
        row -> {});
    each(
        AttachmentKeys.UPLOADS,
        "An upload",
        row -> {
          uploads.uploadOf(row.getKey());
          UploadsSubspace.since(row.getValue());
        },
        row -> eachChunk(uploads.uploadOf(row.getKey()), chunk -> {}));
    rows.others(
        DatabaseSubspace.ATTACHMENTS.range(prefix),
        Stream.of(AttachmentKeys.values()).map(it -> it.range(prefix)).toList(),
        "something of attachments that belongs to none");
  }

  private void each(
      AttachmentKeys part, String what, Consumer<KeyValue> decoder, Consumer<KeyValue> check) {
    rows.derived().each(what, part.range(prefix), decoder, check);
  }

  private void decodeContent(KeyValue row) {
    contents.idOf(row.getKey());
    contents.decode(row.getValue());
  }

  private void checkContent(KeyValue row) {
    ContentId id = contents.idOf(row.getKey());
    StoredContent content = contents.decode(row.getValue());
    if (!isWhole(id, content) && isThere(id, content)) {
      report.add(
          database.place(),
          "the content " + id.hex() + " is damaged: its chunks do not have its hash and length",
          repair(
              "it is removed, and the revisions that show it with it",
              tx -> remove(tx, id, content)));
    }
    if (content.plainLength().isPresent()) {
      StoredContent verified = verified(content);
      if (!verified.equals(content) && isThere(id, content)) {
        report.add(
            database.place(),
            "the content " + id.hex() + " does not decompress to the length that its row says",
            repair(
                "its row gets the length that it has", tx -> replace(tx, id, content, verified)));
      }
    }
    if (reading.<Boolean>read(tx -> isForgotten(tx, id))) {
      report.add(
          database.place(),
          "the content " + id.hex() + " has no reference, and the sweeper does not know it",
          repair("the sweeper is told", tx -> unused.put(tx, id, version(tx))));
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

  /** Returns the content with the length that it has when decompressed; none if it is no gzip. */
  private StoredContent verified(StoredContent content) {
    RowCursor rows = new RowCursor(reading, chunks.range(content.upload()));
    ByteSource plain = new Unzipped(() -> rows.hasNext() ? rows.next().getValue() : new byte[0]);
    long length = 0;
    try {
      for (byte[] next = plain.next(); next.length > 0; next = plain.next()) {
        length += next.length;
      }
      return content.withPlainLength(Optional.of(length));
    } catch (LectusException none) {
      return content.withPlainLength(Optional.empty());
    }
  }

  private void eachChunk(UploadId upload, Consumer<byte[]> sink) {
    rows.derived()
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
          "it refers to the content %s, which is not there, or which it does not show"
              .formatted(reference.content().hex()),
          repair(
              "the reference is removed",
              tx -> {
                if (isDangling(tx, reference)) {
                  references.clear(tx, reference.content(), reference.docId(), reference.leaf());
                }
              }));
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
        && RevisionMetadata.of(value).attachments().contents().contains(it.content());
  }

  private Repair repair(String sentence, Consumer<Transaction> change) {
    return Repair.of(
        Repair.Step.DERIVED_ROWS,
        sentence,
        tx -> {
          database.currentForWrites(tx);
          change.accept(tx);
        });
  }

  /** Another upload may have brought the content again since it was found damaged. */
  private void remove(Transaction tx, ContentId id, StoredContent damaged) {
    if (Awaiting.await(contents.get(tx, id)).equals(Optional.of(damaged))) {
      chunks.clear(tx, damaged.upload());
      contents.clear(tx, id);
      unused.clear(tx, id);
    }
  }

  private void replace(Transaction tx, ContentId id, StoredContent found, StoredContent verified) {
    if (Awaiting.await(contents.get(tx, id)).equals(Optional.of(found))) {
      contents.put(tx, id, verified);
    }
  }

  private static long version(Transaction tx) {
    return Awaiting.await(tx.getReadVersion());
  }

  /**
   * Finds chunks that belong neither to a content nor to an upload. Chunks are read before the
   * contents: a content goes together with its chunks, so one that is still there without is a
   * stray.
   */
  private final class ChunksAudit {
    /** Uploads that are looked for in one pass over the contents. */
    private static final int AT_ONCE = 50_000;

    private final Set<UploadId> suspects = new LinkedHashSet<>();

    /** The first chunk of an upload, and whether the upload is still under way. */
    private record First(byte[] key, boolean isUpload) {}

    void run() {
      Range all = AttachmentKeys.CHUNKS.range(prefix);
      byte[] from = all.begin;
      for (Optional<First> next = first(from, all.end);
          next.isPresent();
          next = first(from, all.end)) {
        from = look(next.get());
      }
      clearSuspects();
    }

    /** Returns where the chunks of the next upload may begin. */
    private byte[] look(First first) {
      try {
        UploadId upload = chunks.uploadOf(first.key());
        if (!first.isUpload()) {
          suspects.add(upload);
        }
        if (suspects.size() == AT_ONCE) {
          clearSuspects();
        }
        return chunks.range(upload).end;
      } catch (MalformedTupleException | IllegalArgumentException malformed) {
        report.add(
            database.place(),
            Texts.unreadable("A chunk", first.key(), malformed),
            Repair.of(Repair.Step.ROWS, "the row is removed", tx -> tx.clear(first.key())));
        return ByteArrayUtil.join(first.key(), new byte[1]);
      }
    }

    private Optional<First> first(byte[] begin, byte[] end) {
      return reading.read(
          tx ->
              Awaiting.await(tx.getRange(begin, end, 1).asList()).stream()
                  .findFirst()
                  .map(row -> new First(row.getKey(), isUpload(tx, row))));
    }

    private boolean isUpload(ReadTransaction tx, KeyValue row) {
      try {
        return Awaiting.await(uploads.since(tx, chunks.uploadOf(row.getKey()))).isPresent();
      } catch (MalformedTupleException | IllegalArgumentException malformed) {
        return false;
      }
    }

    /** Removes those whose number stands in a row of this part. */
    private void remove(AttachmentKeys part, Function<byte[], UploadId> named) {
      RowCursor rows = new RowCursor(reading, part.range(prefix));
      while (!suspects.isEmpty() && rows.hasNext()) {
        try {
          suspects.remove(named.apply(rows.next().getValue()));
        } catch (MalformedTupleException | IllegalArgumentException reportedAlready) {
          continue;
        }
      }
    }

    private void clearSuspects() {
      remove(AttachmentKeys.CONTENTS, value -> contents.decode(value).upload());
      for (UploadId upload : List.copyOf(suspects)) {
        if (first(chunks.range(upload).begin, chunks.range(upload).end).isPresent()) {
          report.add(
              database.place(),
              "chunks are left of " + upload.hex() + ", which is no content",
              Repair.of(
                  Repair.Step.DERIVED_ROWS, "they are removed", tx -> chunks.clear(tx, upload)));
        }
      }
      suspects.clear();
    }
  }
}
