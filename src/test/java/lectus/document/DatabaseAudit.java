package lectus.document;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import lectus.changes.ChangeEntry;
import lectus.changes.ChangesSubspace;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseSubspace;
import lectus.database.Generation;
import lectus.database.ShardId;
import lectus.database.Statistics;
import lectus.json.JsonAssembler;
import lectus.json.JsonBuffer;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.store.Reads;
import lectus.store.TransactionRunner;
import lectus.tuple.TupleReader;

/**
 * Reads a whole database at one read version and checks that its subspaces agree: what every writer
 * must keep, whatever happened to its transactions.
 */
final class DatabaseAudit {
  private final ReadTransaction tx;
  private final DatabaseHandle db;
  private final List<String> violations = new ArrayList<>();
  private final Map<String, List<EditBranch>> documents = new TreeMap<>();

  /** What was found wrong, and how many documents were looked at, deleted ones included. */
  record Report(List<String> violations, int documents) {}

  /** One leaf's body as it lies in the store. */
  private record Body(long external, long stored) {}

  private record Leaf(String docId, boolean deleted, RevisionId revision) {}

  private DatabaseAudit(ReadTransaction tx, DatabaseHandle db) {
    this.tx = tx;
    this.db = db;
  }

  static Report of(Catalogue catalogue, TransactionRunner transactions, DatabaseName name) {
    return transactions.read(tx -> new DatabaseAudit(tx, catalogue.current(tx, name)).run());
  }

  private Report run() {
    readBranches();
    documents.forEach(this::checkBranches);
    checkChanges();
    checkAllDocs();
    checkBodies();
    checkStatistics();
    return new Report(violations, documents.size());
  }

  private void readBranches() {
    RevisionsSubspace revisions = new RevisionsSubspace(db);
    int prefixBytes = DatabaseSubspace.REVISIONS.key(db.prefix()).length();
    for (KeyValue row : rows(DatabaseSubspace.REVISIONS)) {
      String id = new TupleReader(row.getKey(), prefixBytes).string();
      documents.computeIfAbsent(id, it -> Reads.await(revisions.branches(tx, it)));
    }
  }

  private void checkBranches(String id, List<EditBranch> branches) {
    EditBranch winner = branches.get(0);
    expect(
        branches.stream().sorted(EditBranch.WINNER_FIRST).toList().equals(branches),
        id + ": branches are out of order");
    expect(winner.isWinner(), id + ": the highest branch has no sequence");
    expect(
        branches.stream().filter(EditBranch::isWinner).count() == 1,
        id + ": there is not one winner");
    expect(
        winner.isWinner() && winner.winner().branchCount() == branches.size(),
        id + ": counts other than " + branches.size() + " branches");
    for (EditBranch branch : branches) {
      expect(
          branches.stream().noneMatch(other -> other.isAncestor(branch.leaf())),
          id + ": the leaf " + branch.leaf() + " is an ancestor of another");
    }
  }

  private void checkChanges() {
    Map<String, Integer> entries = new HashMap<>();
    for (Generation generation : db.topology().generations()) {
      for (ShardId shard : generation.shards()) {
        List<ChangeEntry> found =
            Reads.await(
                new ChangesSubspace(db)
                    .read(tx, shard, Optional.empty(), Optional.empty(), 0, false));
        found.forEach(entry -> checkEntry(shard, entry));
        found.forEach(entry -> entries.merge(entry.docId(), 1, Integer::sum));
        long counted = Reads.await(Statistics.entries(tx, db, shard));
        expect(counted == found.size(), shard + " counts " + counted + " of " + found.size());
      }
    }
    documents.keySet().forEach(id -> entries.putIfAbsent(id, 0));
    entries.forEach((id, count) -> expect(count == 1, id + ": " + count + " changes"));
  }

  private void checkEntry(ShardId shard, ChangeEntry entry) {
    String id = entry.docId();
    if (!documents.containsKey(id)) {
      expect(false, id + ": a change without a document");
      return;
    }
    EditBranch winner = documents.get(id).get(0);
    expect(entry.sequence().equals(winner.winner().sequence()), id + ": sequences differ");
    expect(entry.winner().equals(winner.leaf()), id + ": the change has another winner");
    expect(entry.deleted() == winner.deleted(), id + ": the change is wrong about its deletion");
    expect(
        entry.branchCount() == winner.winner().branchCount(),
        id + ": the change counts " + entry.branchCount() + " branches");
    expect(
        shard.equals(db.topology().shardAt(id, entry.sequence())),
        id + ": the change lies in another shard");
  }

  private void checkAllDocs() {
    AllDocsSubspace allDocs = new AllDocsSubspace(db);
    Map<String, AllDocsRow> expected = new TreeMap<>();
    documents.forEach(
        (id, branches) -> {
          EditBranch winner = branches.get(0);
          if (!winner.deleted()) {
            expected.put(id, new AllDocsRow(id, winner.leaf(), winner.winner().branchCount()));
          }
        });
    Map<String, AllDocsRow> found = new TreeMap<>();
    for (KeyValue row : rows(DatabaseSubspace.ALL_DOCS)) {
      found.put(allDocs.decode(row).id(), allDocs.decode(row));
    }
    expect(found.equals(expected), "All docs: " + found + " instead of " + expected);
  }

  private void checkBodies() {
    Map<Leaf, Body> bodies = readBodies();
    documents.forEach(
        (id, branches) -> {
          for (EditBranch branch : branches) {
            Body body = bodies.remove(new Leaf(id, branch.deleted(), branch.leaf()));
            String what = id + " " + branch.leaf();
            expect(branch.body().isStored() == (body != null), what + ": body missing or left");
            expect(branch.deleted() || body != null, what + ": a live leaf without a body");
            if (body != null) {
              expect(
                  body.equals(new Body(branch.body().external(), branch.body().stored())),
                  what + ": the sizes are " + body + ", not " + branch.body());
            }
          }
        });
    expect(bodies.isEmpty(), "Bodies of no leaf: " + bodies.keySet());
  }

  private Map<Leaf, Body> readBodies() {
    DocumentsSubspace subspace = new DocumentsSubspace(db);
    int prefixBytes = DatabaseSubspace.DOCUMENTS.key(db.prefix()).length();
    Map<Leaf, List<KeyValue>> rows = new LinkedHashMap<>();
    for (KeyValue row : rows(DatabaseSubspace.DOCUMENTS)) {
      String id = new TupleReader(row.getKey(), prefixBytes).string();
      BodyKey key = DocumentsSubspace.decodeKey(row.getKey(), subspace.document(id).length);
      rows.computeIfAbsent(new Leaf(id, key.deleted(), key.revision()), it -> new ArrayList<>())
          .add(row);
    }
    Map<Leaf, Body> bodies = new HashMap<>();
    rows.forEach((leaf, itsRows) -> bodies.put(leaf, body(leaf, itsRows)));
    return bodies;
  }

  private Body body(Leaf leaf, List<KeyValue> rows) {
    byte[] metadataKey =
        new DocumentsSubspace(db).revision(leaf.docId(), leaf.deleted(), leaf.revision());
    expect(Arrays.equals(rows.get(0).getKey(), metadataKey), leaf + " has no metadata");
    DocumentsSubspace.checkMetadata(rows.get(0).getValue());
    JsonBuffer json = new JsonBuffer(256).octet('{');
    JsonAssembler assembler = new JsonAssembler(json, false);
    for (KeyValue row : rows.subList(1, rows.size())) {
      assembler.leaf(row.getKey(), metadataKey.length, row.getValue());
    }
    assembler.finish();
    long stored = rows.stream().mapToLong(row -> row.getKey().length + row.getValue().length).sum();
    return new Body(json.octet('}').length(), stored);
  }

  private void checkStatistics() {
    List<EditBranch> winners = documents.values().stream().map(it -> it.get(0)).toList();
    List<EditBranch> leaves = documents.values().stream().flatMap(List::stream).toList();
    Statistics expected =
        new Statistics(
            winners.stream().filter(it -> !it.deleted()).count(),
            winners.stream().filter(EditBranch::deleted).count(),
            leaves.stream().mapToLong(it -> it.body().external()).sum(),
            leaves.stream().mapToLong(it -> it.body().stored()).sum());
    Statistics found = Reads.await(Statistics.read(tx, db));
    expect(found.equals(expected), found + " instead of " + expected);
  }

  private List<KeyValue> rows(DatabaseSubspace subspace) {
    byte[] prefix = subspace.key(db.prefix()).toBytes();
    return Reads.await(tx.getRange(Range.startsWith(prefix)).asList());
  }

  private void expect(boolean holds, String violation) {
    if (!holds) {
      violations.add(violation);
    }
  }
}
