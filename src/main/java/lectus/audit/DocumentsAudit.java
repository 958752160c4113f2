package lectus.audit;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.attachment.Attachment;
import lectus.attachment.AttachmentList;
import lectus.attachment.ContentsSubspace;
import lectus.attachment.ContentsSubspace.StoredContent;
import lectus.attachment.ReferencesSubspace;
import lectus.audit.DatabaseAudit.AuditedDatabase;
import lectus.changes.log.ChangesSubspace;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Sequence;
import lectus.database.StatisticsSubspace.StatisticsDelta;
import lectus.document.DocumentsSubspace;
import lectus.revision.EditBranch;
import lectus.revision.EditBranch.BodySize;
import lectus.store.Awaiting;
import lectus.tuple.MalformedTupleException;
import lectus.tuple.TupleReader;

/** Audits the documents of a database: each by itself, and its entry in the changes index. */
final class DocumentsAudit {
  /** Documents whose entries are read together. */
  private static final int BATCH = 500;

  private final Reading reading;
  private final AuditedDatabase database;
  private final DatabaseHandle db;
  private final AuditReport report;
  private final StatisticsDelta counted;
  private long documents;

  /**
   * @param counted accumulates what the counters should say
   */
  DocumentsAudit(
      Reading reading, AuditedDatabase database, AuditReport report, StatisticsDelta counted) {
    this.reading = reading;
    this.database = database;
    this.db = database.handle();
    this.report = report;
    this.counted = counted;
  }

  /** What is remembered of a document until its entry is read. */
  private record Seen(
      String id,
      Optional<EditBranch> winner,
      Map<StoredDocument.Leaf, AttachmentList> attachments,
      List<String> problems) {}

  /** Returns the number of documents. */
  long run() {
    DocumentCursor cursor = new DocumentCursor(reading, db, report);
    List<Seen> batch = new ArrayList<>(BATCH);
    for (Optional<StoredDocument> next = cursor.next(); next.isPresent(); next = cursor.next()) {
      batch.add(see(next.get()));
      if (batch.size() == BATCH) {
        checkEntries(batch);
        batch.clear();
      }
    }
    checkEntries(batch);
    return documents;
  }

  private Seen see(StoredDocument document) {
    documents++;
    report.countDocument();
    count(document);
    return seen(document);
  }

  private static Seen seen(StoredDocument document) {
    return new Seen(
        document.id(), document.winner(), document.attachments(), DocumentCheck.of(document));
  }

  private void count(StoredDocument document) {
    boolean isLive = document.winner().map(it -> !it.deleted()).orElse(false);
    boolean isDeleted = document.winner().map(EditBranch::deleted).orElse(false);
    long external = document.bodies().values().stream().mapToLong(BodySize::external).sum();
    long stored = document.bodies().values().stream().mapToLong(BodySize::stored).sum();
    long attached =
        document.attachments().values().stream().mapToLong(AttachmentList::storedLength).sum();
    counted.add(document.id(), isLive ? 1 : 0, isDeleted ? 1 : 0, external, stored + attached);
  }

  private void checkEntries(List<Seen> batch) {
    List<List<String>> problems = reading.read(tx -> problems(tx, db, batch));
    for (int i = 0; i < batch.size(); i++) {
      String id = batch.get(i).id();
      if (!problems.get(i).isEmpty()) {
        List<String> sure = reading.isOneVersion() ? problems.get(i) : checkAgain(id);
        Optional<Repair> repair = sure.isEmpty() ? Optional.empty() : repair(id);
        sure.forEach(it -> report.add(database.place(id), it, repair));
      }
    }
  }

  /** There is none for what a later version wrote. */
  private Optional<Repair> repair(String id) {
    return reading.read(
        tx -> {
          DatabaseHandle now = database.current(tx);
          StoredDocument document = StoredDocument.read(tx, now, id);
          if (document.isOfLaterVersion()) {
            return Optional.empty();
          }
          return Optional.of(
              document.hasStraysOnly()
                  ? Repair.of(
                      Repair.Step.ROWS,
                      "the rows that cannot be read are removed",
                      write -> document.unreadable().forEach(row -> write.clear(row.getKey())))
                  : Repair.of(
                      Repair.Step.DOCUMENTS,
                      DocumentMend.of(tx, now, document).sentence(),
                      write -> mend(write, id)));
        });
  }

  private void mend(Transaction tx, String id) {
    database.currentForWrites(tx);
    DatabaseHandle now = database.catalogue().currentForChanges(tx, db.name());
    StoredDocument document = StoredDocument.read(tx, now, id);
    if (!problems(tx, now, List.of(seen(document))).get(0).isEmpty()) {
      DocumentMend.of(tx, now, document).write(tx, database.catalogue(), now);
    }
  }

  private static List<List<String>> problems(
      ReadTransaction tx, DatabaseHandle db, List<Seen> batch) {
    ChangesSubspace changes = new ChangesSubspace(db);
    List<CompletableFuture<Optional<ChangeEntry>>> entries =
        batch.stream().map(it -> entry(tx, db, changes, it)).toList();
    List<List<String>> problems = new ArrayList<>(batch.size());
    for (int i = 0; i < batch.size(); i++) {
      List<String> its = problems(batch.get(i), entries.get(i));
      its.addAll(ofReferences(tx, db, batch.get(i).id(), batch.get(i).attachments()));
      problems.add(its);
    }
    return problems;
  }

  private static CompletableFuture<Optional<ChangeEntry>> entry(
      ReadTransaction tx, DatabaseHandle db, ChangesSubspace changes, Seen document) {
    Optional<Sequence> sequence =
        document.winner().filter(EditBranch::isWinner).map(it -> it.winner().sequence());
    return sequence
        .map(it -> changes.entry(tx, db.topology().shardAt(document.id(), it), it))
        .orElse(CompletableFuture.completedFuture(Optional.empty()));
  }

  private static List<String> problems(Seen seen, CompletableFuture<Optional<ChangeEntry>> entry) {
    List<String> problems = new ArrayList<>(seen.problems());
    if (seen.winner().isEmpty() || !seen.winner().get().isWinner()) {
      return problems;
    }
    try {
      problems.addAll(DocumentCheck.ofEntry(seen.winner().get(), Awaiting.await(entry)));
    } catch (MalformedTupleException | IllegalArgumentException malformed) {
      problems.add("its change cannot be read (" + malformed.getMessage() + ")");
    }
    return problems;
  }

  /**
   * Checks a suspicious document again, at one version: it may have been written between two reads.
   */
  private List<String> checkAgain(String id) {
    return reading.read(
        tx -> {
          DatabaseHandle now = database.current(tx);
          StoredDocument document = StoredDocument.read(tx, now, id);
          if (document.isEmpty()) {
            return List.of();
          }
          return problems(tx, now, List.of(seen(document))).get(0);
        });
  }

  /** Checks that what leaves show as attachments is there, and referred to. */
  private static List<String> ofReferences(
      ReadTransaction tx,
      DatabaseHandle db,
      String id,
      Map<StoredDocument.Leaf, AttachmentList> attachments) {
    List<String> problems = new ArrayList<>();
    ContentsSubspace contents = new ContentsSubspace(db.prefix());
    ReferencesSubspace references = new ReferencesSubspace(db.prefix());
    attachments.forEach(
        (leaf, list) -> {
          byte[] key = DocumentsSubspace.leaf(leaf.deleted(), leaf.revision());
          for (Attachment it : list.all()) {
            if (!Awaiting.await(references.contains(tx, it.content(), id, key))) {
              problems.add("its attachment " + it.name() + " of " + leaf + " has no reference");
            }
            Awaiting.await(contents.get(tx, it.content()))
                .ifPresentOrElse(
                    content -> check(it, leaf, content, problems),
                    () -> problems.add("its attachment " + it.name() + " of " + leaf + " is lost"));
          }
        });
    return problems;
  }

  private static void check(
      Attachment it, StoredDocument.Leaf leaf, StoredContent content, List<String> problems) {
    boolean isSame = content.length() == it.storedLength() && content.md5().equals(it.md5());
    if (!isSame) {
      problems.add("its attachment " + it.name() + " of " + leaf + " has another content");
    }
  }

  /**
   * Iterates over all documents of a database in the order of their ids. It merges the subspaces
   * sorted by id and keeps one page of each in memory.
   */
  private static final class DocumentCursor {
    private final DatabaseHandle db;
    private final AuditReport report;
    private final List<Part> parts;

    DocumentCursor(Reading reading, DatabaseHandle db, AuditReport report) {
      this.db = db;
      this.report = report;
      this.parts = StoredDocument.SUBSPACES.stream().map(it -> new Part(reading, it)).toList();
    }

    /** One of the subspaces. */
    private final class Part {
      private final DatabaseSubspace subspace;
      private final RowCursor rows;
      private final int prefixBytes;
      private byte[] id;

      private Part(Reading reading, DatabaseSubspace subspace) {
        this.subspace = subspace;
        this.rows = new RowCursor(reading, subspace.range(db.prefix()));
        this.prefixBytes = subspace.key(db.prefix()).length();
      }

      /** Returns the UTF-8 bytes of the next row's id, or null at the end. */
      private byte[] id() {
        while (id == null && rows.hasNext()) {
          KeyValue row = rows.peek();
          try {
            id = new TupleReader(row.getKey(), prefixBytes).stringUtf8();
          } catch (MalformedTupleException noId) {
            String place = Texts.database(db.name().text());
            report.add(
                place,
                Texts.unreadable("A key of " + subspace, row.getKey(), noId),
                Repair.removing(row));
            rows.next();
          }
        }
        return id;
      }

      private void feed(StoredDocumentBuilder document, byte[] itsId) {
        while (Arrays.equals(id(), itsId)) {
          document.part(subspace).accept(rows.next());
          id = null;
        }
      }
    }

    /** Returns the next document. Empty at the end. */
    Optional<StoredDocument> next() {
      Optional<byte[]> least =
          parts.stream()
              .map(Part::id)
              .filter(Objects::nonNull)
              .min(Comparator.comparing(id -> id, Arrays::compareUnsigned));
      return least.map(this::take);
    }

    private StoredDocument take(byte[] id) {
      StoredDocumentBuilder document =
          new StoredDocumentBuilder(db, new String(id, StandardCharsets.UTF_8));
      parts.forEach(part -> part.feed(document, id));
      return document.build();
    }
  }
}
