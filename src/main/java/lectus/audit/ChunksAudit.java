package lectus.audit;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import lectus.attachment.AttachmentKeys;
import lectus.attachment.ChunksSubspace;
import lectus.attachment.ContentsSubspace;
import lectus.attachment.UploadsSubspace;
import lectus.attachment.UploadsSubspace.UploadId;
import lectus.store.Awaiting;
import lectus.tuple.MalformedTupleException;

/**
 * Finds chunks that belong neither to a content nor to an upload. Chunks are read before the
 * contents: a content goes together with its chunks, so one that is still there without is a stray.
 */
final class ChunksAudit {
  /** Uploads that are looked for in one pass over the contents. */
  private static final int AT_ONCE = 50_000;

  private final Reading reading;
  private final AuditedDatabase database;
  private final AuditReport report;
  private final byte[] prefix;
  private final ContentsSubspace contents;
  private final ChunksSubspace chunks;
  private final UploadsSubspace uploads;
  private final Set<UploadId> suspects = new LinkedHashSet<>();

  ChunksAudit(Reading reading, AuditedDatabase database, AuditReport report) {
    this.reading = reading;
    this.database = database;
    this.report = report;
    this.prefix = database.handle().prefix();
    this.contents = new ContentsSubspace(prefix);
    this.chunks = new ChunksSubspace(prefix);
    this.uploads = new UploadsSubspace(prefix);
  }

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
