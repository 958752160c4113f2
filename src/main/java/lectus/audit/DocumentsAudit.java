package lectus.audit;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import lectus.attachment.Attachment;
import lectus.attachment.AttachmentList;
import lectus.attachment.ContentId;
import lectus.attachment.ContentsSubspace;
import lectus.attachment.ContentsSubspace.StoredContent;
import lectus.attachment.ReferencesSubspace;
import lectus.attachment.UnusedSubspace;
import lectus.audit.DatabaseAudit.AuditedDatabase;
import lectus.audit.Reading.RowCursor;
import lectus.audit.StoredDocument.StoredDocumentBuilder;
import lectus.changes.log.ChangesSubspace;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Sequence;
import lectus.database.StatisticsSubspace.StatisticsDelta;
import lectus.database.Validator;
import lectus.database.ValidatorsSubspace;
import lectus.document.DocumentsSubspace;
import lectus.document.read.AllDocsSubspace;
import lectus.document.read.AllDocsSubspace.AllDocsRow;
import lectus.document.write.DocumentUpdate;
import lectus.document.write.UpdateWriter;
import lectus.document.write.ValidationMember;
import lectus.json.MalformedTupleException;
import lectus.json.TupleReader;
import lectus.revision.BranchUpdate;
import lectus.revision.EditBranch;
import lectus.revision.EditBranch.BodySize;
import lectus.revision.EditBranch.Winner;
import lectus.revision.OtherLeaves;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

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

  /** Checks the invariants of a document, whatever happened to the transactions that wrote it. */
  static final class DocumentCheck {
    /** Documents with more branches are not checked for leaves that are ancestors of others. */
    private static final int MAX_COMPARED = 1_000;

    private final StoredDocument document;
    private final List<String> problems;

    private DocumentCheck(StoredDocument document) {
      this.document = document;
      this.problems = new ArrayList<>(document.defects());
    }

    /** Returns what is wrong with a document by itself. Empty if nothing is. */
    static List<String> of(StoredDocument document) {
      DocumentCheck check = new DocumentCheck(document);
      check.checkBranches();
      check.checkBodies();
      check.checkRow();
      check.checkValidation();
      return check.problems;
    }

    /**
     * Returns what is wrong with a document's entry in the changes index, read at its expected key.
     */
    static List<String> ofEntry(EditBranch winner, Optional<ChangeEntry> found) {
      List<String> problems = new ArrayList<>();
      if (found.isEmpty()) {
        problems.add("the changes index has no entry at " + winner.winner().sequence());
        return problems;
      }
      ChangeEntry entry = found.get();
      if (!entry.winner().equals(winner.leaf())) {
        problems.add("its change names " + entry.winner() + ", but the winner is " + winner.leaf());
      }
      if (entry.deleted() != winner.deleted()) {
        problems.add("its change says that it is " + (entry.deleted() ? "" : "not ") + "deleted");
      }
      if (entry.branchCount() != winner.winner().branchCount()) {
        problems.add(
            "its change counts %s branches, but its winner %s"
                .formatted(entry.branchCount(), winner.winner().branchCount()));
      }
      return problems;
    }

    private void checkBranches() {
      List<EditBranch> branches = document.branches();
      if (branches.isEmpty()) {
        problems.add("it has no edit branch");
        return;
      }
      EditBranch winner = branches.get(0);
      if (!winner.isWinner()) {
        problems.add("its highest branch " + winner.leaf() + " is not marked as the winner");
      } else if (winner.winner().branchCount() != branches.size()) {
        problems.add(
            "its winner counts %s branches, there are %s"
                .formatted(winner.winner().branchCount(), branches.size()));
      } else if (!listsOthers(winner.winner(), branches.subList(1, branches.size()))) {
        problems.add("its winner does not list the leaves of the other branches as they are");
      }
      for (EditBranch branch : branches.subList(1, branches.size())) {
        if (branch.isWinner()) {
          problems.add("its branch " + branch.leaf() + " is marked as a winner beside another");
        }
      }
      if (branches.size() <= MAX_COMPARED) {
        checkAncestors(branches);
      }
    }

    /** A winner need not list them. */
    private static boolean listsOthers(Winner winner, List<EditBranch> others) {
      return winner.others().isEmpty() || winner.others().equals(OtherLeaves.of(others));
    }

    private void checkAncestors(List<EditBranch> branches) {
      for (EditBranch branch : branches) {
        if (branches.stream().anyMatch(other -> other.isAncestor(branch.leaf()))) {
          problems.add("its leaf " + branch.leaf() + " is an ancestor of another");
        }
      }
    }

    private void checkBodies() {
      Map<StoredDocument.Leaf, BodySize> left = new LinkedHashMap<>(document.bodies());
      for (EditBranch branch : document.branches()) {
        StoredDocument.Leaf leaf = new StoredDocument.Leaf(branch.deleted(), branch.leaf());
        checkBody(leaf, branch, Optional.ofNullable(left.remove(leaf)));
      }
      left.keySet()
          .forEach(leaf -> problems.add("a body is left of " + leaf + ", which is not a leaf"));
    }

    private void checkBody(StoredDocument.Leaf leaf, EditBranch branch, Optional<BodySize> stored) {
      if (stored.isEmpty()) {
        if (branch.body().isStored() || !branch.deleted()) {
          problems.add("the body of " + leaf + " is missing");
        }
        return;
      }
      if (!stored.get().equals(branch.body())) {
        problems.add(
            "the body of %s has %s, its branch says %s"
                .formatted(leaf, text(stored.get()), text(branch.body())));
      }
    }

    private static String text(BodySize size) {
      return size.external() + " bytes of JSON and " + size.stored() + " of keys and values";
    }

    private void checkRow() {
      Optional<AllDocsRow> expected =
          document
              .winner()
              .filter(winner -> winner.isWinner() && !winner.deleted())
              .map(
                  winner ->
                      new AllDocsRow(document.id(), winner.leaf(), winner.winner().branchCount()));
      if (!document.row().equals(expected)) {
        problems.add("all-docs has " + text(document.row()) + ", it should have " + text(expected));
      }
      boolean isDeleted = document.winner().filter(EditBranch::deleted).isPresent();
      if (document.isListedAsDeleted() != isDeleted) {
        problems.add(
            "it is %s among the deleted documents"
                .formatted(isDeleted ? "deleted and not" : "not deleted, but"));
      }
    }

    private void checkValidation() {
      Optional<Validator> listed = document.validation().listed();
      Optional<Validator> expected =
          document.winner().flatMap(it -> document.validation().expected(document.id(), it));
      if (listed.isPresent() != expected.isPresent()) {
        problems.add(
            "it is %samong the validators, but its winner has %s validate_doc_update"
                .formatted(listed.isPresent() ? "" : "not ", expected.isPresent() ? "a" : "no"));
      } else if (!listed.equals(expected)) {
        problems.add("it is listed as " + listed.get() + " and should be " + expected.get());
      }
    }

    private static String text(Optional<AllDocsRow> row) {
      return row.map(it -> it.winner() + " with " + it.branchCount() + " branches")
          .orElse("no row");
    }
  }

  /**
   * The repair of one document. Edit branches that can be read, and whose bodies and attachments
   * are whole, stay; the others go, so that a replicator finds them missing and brings them again.
   * Everything that depends on the branches is written anew, as by an edit.
   *
   * @param kept the branches that stay, with the sizes of their bodies as they are
   */
  record DocumentMend(StoredDocument document, List<EditBranch> kept, List<EditBranch> removed) {
    /** Documents with more branches are not searched for leaves that are ancestors of others. */
    private static final int MAX_COMPARED = 1_000;

    static DocumentMend of(ReadTransaction tx, DatabaseHandle db, StoredDocument document) {
      ContentsSubspace contents = new ContentsSubspace(db.prefix());
      List<EditBranch> kept = new ArrayList<>();
      List<EditBranch> removed = new ArrayList<>();
      for (EditBranch branch : document.branches()) {
        StoredDocument.Leaf leaf = StoredDocument.Leaf.of(branch);
        Optional<BodySize> size = document.wholeBody(branch);
        boolean areThere =
            attachments(document, leaf).stream()
                .allMatch(it -> Awaiting.await(contents.get(tx, it)).isPresent());
        if (size.isPresent() && areThere && !isAncestor(document.branches(), branch)) {
          kept.add(
              new EditBranch(
                  branch.leaf(),
                  branch.deleted(),
                  branch.ancestors(),
                  size.get(),
                  branch.winner()));
        } else {
          removed.add(branch);
        }
      }
      return new DocumentMend(document, kept, removed);
    }

    private static boolean isAncestor(List<EditBranch> branches, EditBranch branch) {
      return branches.size() <= MAX_COMPARED
          && branches.stream().anyMatch(other -> other.isAncestor(branch.leaf()));
    }

    private static Set<ContentId> attachments(StoredDocument document, StoredDocument.Leaf leaf) {
      return document.attachments().getOrDefault(leaf, AttachmentList.NONE).contents();
    }

    /** Says what {@link #write} does. */
    String sentence() {
      List<String> parts = new ArrayList<>();
      if (!document.unreadable().isEmpty()) {
        parts.add("the rows that cannot be read are removed");
      }
      if (!removed.isEmpty()) {
        String leaves =
            removed.stream().map(it -> it.leaf().toString()).collect(Collectors.joining(", "));
        parts.add("what is stored of the revisions " + leaves + " is removed");
      }
      parts.add(
          kept.isEmpty()
              ? "nothing is left of the document"
              : "what depends on its edit branches is written anew, and %s wins"
                  .formatted(kept.get(0).leaf()));
      return String.join("; ", parts);
    }

    /** Call {@link Catalogue#currentForChanges} first. */
    void write(Transaction tx, Catalogue catalogue, DatabaseHandle db) {
      String id = document.id();
      RevisionsSubspace revisions = new RevisionsSubspace(db);
      revisions.conflictWithEdits(tx, id);
      document.unreadable().forEach(row -> tx.clear(row.getKey()));
      removed.forEach(branch -> revisions.clear(tx, id, branch));
      clearBodies(tx, db);
      clearChanges(tx, db);
      AllDocsSubspace allDocs = new AllDocsSubspace(db);
      allDocs.clear(tx, id);
      allDocs.setDeleted(tx, id, false);
      if (!kept.isEmpty()) {
        UpdateWriter writer = new UpdateWriter(tx, db);
        BranchUpdate branches = BranchUpdate.of(List.of(), List.of(), kept);
        writer.write(new DocumentUpdate(id, branches, Map.of()));
        writer.finish();
      }
      writeReferences(tx, db);
      writeValidation(tx, catalogue, db);
      catalogue.noteUpdate(tx, db);
    }

    private void clearBodies(Transaction tx, DatabaseHandle db) {
      DocumentsSubspace documents = new DocumentsSubspace(db);
      Set<StoredDocument.Leaf> leaves =
          kept.stream().map(StoredDocument.Leaf::of).collect(Collectors.toSet());
      for (StoredDocument.Leaf leaf : document.bodies().keySet()) {
        if (!leaves.contains(leaf)) {
          documents.clear(tx, document.id(), leaf.deleted(), leaf.revision());
        }
      }
    }

    private void clearChanges(Transaction tx, DatabaseHandle db) {
      ChangesSubspace changes = new ChangesSubspace(db);
      for (EditBranch branch : document.branches()) {
        if (branch.isWinner()) {
          Sequence sequence = branch.winner().sequence();
          changes.clear(tx, db.topology().shardAt(document.id(), sequence), sequence);
        }
      }
    }

    private void writeReferences(Transaction tx, DatabaseHandle db) {
      ReferencesSubspace references = new ReferencesSubspace(db.prefix());
      ContentsSubspace contents = new ContentsSubspace(db.prefix());
      UnusedSubspace unused = new UnusedSubspace(db.prefix());
      long now = Awaiting.await(tx.getReadVersion());
      Set<StoredDocument.Leaf> leaves =
          kept.stream().map(StoredDocument.Leaf::of).collect(Collectors.toSet());
      for (StoredDocument.Leaf leaf : document.attachments().keySet()) {
        byte[] key = DocumentsSubspace.leaf(leaf.deleted(), leaf.revision());
        for (ContentId content : attachments(document, leaf)) {
          if (leaves.contains(leaf)) {
            references.put(tx, content, document.id(), key);
          } else {
            references.clear(tx, content, document.id(), key);
            if (Awaiting.await(contents.get(tx, content)).isPresent()) {
              unused.put(tx, content, now);
            }
          }
        }
      }
    }

    private void writeValidation(Transaction tx, Catalogue catalogue, DatabaseHandle db) {
      Optional<ValidationMember> member =
          kept.stream()
              .limit(1)
              .filter(winner -> !winner.deleted())
              .map(winner -> document.validation().leaves().get(StoredDocument.Leaf.of(winner)))
              .filter(Objects::nonNull)
              .findFirst();
      ValidatorsSubspace validators = new ValidatorsSubspace(db.prefix());
      if (member.isPresent()) {
        String leaf = kept.get(0).leaf().toString();
        validators.add(tx, db.incarnation(), document.id(), leaf, member.get().declaration(), 1);
      } else if (document.validation().listed().isPresent()) {
        validators.remove(tx, document.id());
      } else {
        return;
      }
      catalogue.moveVersion(tx, db);
    }
  }
}
