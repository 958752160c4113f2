package lectus.document;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import lectus.attachment.Attachment;
import lectus.attachment.AttachmentList;
import lectus.attachment.ContentId;
import lectus.attachment.Md5;
import lectus.changes.log.ChangesSubspace;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.changes.log.PurgesSubspace;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.document.DocumentsSubspace.BodyKey;
import lectus.document.edit.LocalEdit;
import lectus.document.read.AllDocsSubspace;
import lectus.document.read.AllDocsSubspace.AllDocsRow;
import lectus.document.read.LocalDocsSubspace;
import lectus.document.read.LocalDocsSubspace.LocalRow;
import lectus.document.testing.TestDatabase;
import lectus.json.ExplodedBody;
import lectus.json.JsonAssembler;
import lectus.json.JsonBuffer;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.revision.Ancestors;
import lectus.revision.EditBranch;
import lectus.revision.EditBranch.BodySize;
import lectus.revision.EditBranch.Winner;
import lectus.revision.OtherLeaves;
import lectus.revision.RevisionHash;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.store.Store;
import lectus.store.testing.GoldenRows;
import lectus.store.testing.TestStores;
import lectus.store.testing.WrittenRows;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The exact bytes of documents, their revisions and their index entries. */
final class GoldenDocumentRowsTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final RevisionId PLAIN = RevisionId.of("3-00112233445566778899aabbccddeeff");
  private static final RevisionId ODD = RevisionId.of("2-odd");

  private static final AttachmentList ATTACHMENTS =
      new AttachmentList(
          List.of(
              new Attachment(
                  "ü",
                  "text/plain",
                  new ContentId("00" + "ab".repeat(31)),
                  new Md5("cd".repeat(16)),
                  300,
                  70_000,
                  true,
                  2),
              new Attachment(
                  "b/c",
                  "",
                  new ContentId("ef".repeat(32)),
                  new Md5("12".repeat(16)),
                  0,
                  0,
                  false,
                  1)));

  private final Store store = stores.fresh();
  private final DatabaseHandle db = TestDatabase.create(store).read((tx, handle) -> handle);

  private WrittenRows written(DatabaseSubspace subspace, Consumer<Transaction> encoder) {
    return WrittenRows.of(store, subspace.range(db.prefix()), encoder);
  }

  private static EditBranch branch(RevisionId leaf, boolean deleted, RevisionHash... ancestors) {
    Ancestors list = Ancestors.of(List.of(ancestors), Ancestors.MAX_COUNT);
    return new EditBranch(leaf, deleted, list, new BodySize(300, 70_000), null);
  }

  @Test
  void edit_branches() {
    RevisionsSubspace revisions = new RevisionsSubspace(db);
    RevisionHash plain = PLAIN.hash();
    EditBranch alone = branch(RevisionId.of("1-00112233445566778899aabbccddeeff"), false);
    EditBranch withParents = branch(PLAIN, false, plain, plain);
    EditBranch losing = branch(ODD, false, ODD.hash());
    EditBranch deleted = branch(PLAIN, true, plain, ODD.hash());
    EditBranch attached = attached(PLAIN, plain);
    EditBranch attachedLoser = attached(ODD);
    Optional<OtherLeaves> others = OtherLeaves.of(List.of(losing, deleted));
    WrittenRows written =
        written(
            DatabaseSubspace.REVISIONS,
            tx -> {
              revisions.put(tx, "a", alone.winning(1, Optional.empty()), 1);
              revisions.put(tx, "b\0", withParents.winning(3, Optional.empty()), 258);
              revisions.put(tx, "c", withParents.winning(3, others), 259);
              revisions.put(tx, "b\0", losing, 0);
              revisions.put(tx, "b\0", deleted, 0);
              revisions.put(tx, "d", attached.winning(1, Optional.empty()), 1);
              revisions.put(tx, "d", attachedLoser, 1);
              revisions.put(tx, "e", attached.winning(3, others), 2);
            });
    GoldenRows golden = GoldenRows.of("RevisionsSubspace", db.prefix(), written.stamp());

    golden.assertAre(written.rows());
    Winner winner = new Winner(Sequence.of(0, written.stamp(), 258), 3, Optional.empty());
    Winner listing = new Winner(Sequence.of(0, written.stamp(), 259), 3, others);
    assertThat(branch(golden, "the winner of three")).isEqualTo(with(winner, withParents));
    assertThat(branch(golden, "the winner of three, with the leaves of the others"))
        .isEqualTo(with(listing, withParents));
    assertThat(branch(golden, "a losing branch with an odd hash")).isEqualTo(losing);
    assertThat(branch(golden, "a deleted branch")).isEqualTo(deleted);
    for (String title :
        List.of(
            "a winner with attachments",
            "a winner of three with attachments, with the leaves of the others")) {
      assertThat(branch(golden, "d", title).losing()).isEqualTo(attached);
    }
    assertThat(branch(golden, "d", "a losing branch with attachments")).isEqualTo(attachedLoser);
    assertThat(branch(golden, "the first revision of a document").losing()).isEqualTo(alone);
  }

  private static EditBranch attached(RevisionId leaf, RevisionHash... ancestors) {
    Ancestors list = Ancestors.of(List.of(ancestors), Ancestors.MAX_COUNT);
    return new EditBranch(leaf, false, list, new BodySize(300, 70_000, 2), null);
  }

  private EditBranch branch(GoldenRows golden, String title) {
    KeyValue row = golden.row(title);
    TupleReader key = new TupleReader(row.getKey(), db.prefix().length);
    key.integer();
    key.string();
    return RevisionsSubspace.decode(row, key.position());
  }

  /**
   * @param id as long as that of the row
   */
  private EditBranch branch(GoldenRows golden, String id, String title) {
    byte[] document = DatabaseSubspace.REVISIONS.key(db.prefix()).string(id).toBytes();
    return RevisionsSubspace.decode(golden.row(title), document.length);
  }

  private static EditBranch with(Winner winner, EditBranch branch) {
    return new EditBranch(
        branch.leaf(), branch.deleted(), branch.ancestors(), branch.body(), winner);
  }

  @Test
  void bodies() {
    DocumentsSubspace documents = new DocumentsSubspace(db);
    WrittenRows written =
        written(
            DatabaseSubspace.DOCUMENTS,
            tx -> {
              ExplodedBody one = TestDatabase.edit("a", null, "{\"x\":[1]}").body();
              put(tx, "a", false, PLAIN, one, AttachmentList.NONE);
              ExplodedBody empty = TestDatabase.edit("a", null, "{}").body();
              put(tx, "a", true, ODD, empty, AttachmentList.NONE);
              ExplodedBody small = TestDatabase.edit("b", null, "{\"y\":true}").body();
              put(tx, "b", false, ODD, small, ATTACHMENTS);
              String text = "{\"x\":[\"" + "x".repeat(9_000) + "\"]}";
              ExplodedBody large = TestDatabase.edit("c", null, text).body();
              put(tx, "c", false, PLAIN, large, AttachmentList.NONE);
              put(tx, "d", false, ODD, large, ATTACHMENTS);
              String unordered = "{\"y\":1,\"x\":\"" + "x".repeat(9_000) + "\"}";
              ExplodedBody inOrder = TestDatabase.edit("f", null, unordered).body();
              put(tx, "f", false, ODD, inOrder, AttachmentList.NONE);
              put(tx, "g", false, ODD, inOrder, ATTACHMENTS);
            });
    GoldenRows golden = GoldenRows.of("DocumentsSubspace", db.prefix(), written.stamp());

    golden.assertAre(written.rows());
    int document = documents.document("a").length;
    KeyValue leaf = golden.row("a leaf value of a large revision");
    BodyKey key = DocumentsSubspace.decodeKey(leaf.getKey(), document);
    assertThat(key.deleted()).isFalse();
    assertThat(key.revision()).isEqualTo(PLAIN);
    RevisionMetadata inline = RevisionMetadata.of(golden.value("a small live revision"));
    assertThat(inline.isInline()).isTrue();
    assertThat(inline.attachments()).isEqualTo(AttachmentList.NONE);
    assertThat(leaves(inline)).containsExactly("02780014=1501");
    RevisionMetadata attached = RevisionMetadata.of(golden.value("a small one with attachments"));
    assertThat(attached.attachments()).isEqualTo(ATTACHMENTS);
    assertThat(leaves(attached)).containsExactly("027900=27");
    assertThat(RevisionMetadata.of(golden.value("a large revision")).isInline()).isFalse();
    RevisionMetadata large = RevisionMetadata.of(golden.value("a large one with attachments"));
    assertThat(large.attachments()).isEqualTo(ATTACHMENTS);
    assertThat(large.isInline()).isFalse();
    RevisionMetadata ordered = RevisionMetadata.of(golden.value("unordered, with attachments"));
    assertThat(ordered.attachments()).isEqualTo(ATTACHMENTS);
    assertThat(DocumentsSubspace.decodeKey(golden.key("a tombstone"), document).revision())
        .isEqualTo(ODD);
  }

  @Test
  void a_large_body() {
    String text = "{\"x\":\"" + "x".repeat(1_000_000) + "\"}";
    ExplodedBody large = TestDatabase.edit("e", null, text).body();
    WrittenRows written =
        written(
            DatabaseSubspace.DOCUMENTS,
            tx -> put(tx, "e", false, PLAIN, large, AttachmentList.NONE));
    GoldenRows golden = GoldenRows.of("TextChunks", db.prefix(), written.stamp());

    golden.assertAre(written.rows());
    JsonBuffer read = new JsonBuffer(1_000_008).octet('{');
    int pathOffset = golden.key("the metadata of a large body").length;
    StoredBody.of(written.rows(), pathOffset, false).appendTo(new JsonAssembler(read, false));
    assertThat(read.octet('}').toString()).isEqualTo(text);
  }

  private void put(
      Transaction tx,
      String id,
      boolean deleted,
      RevisionId revision,
      ExplodedBody body,
      AttachmentList attachments) {
    DocumentsSubspace documents = new DocumentsSubspace(db);
    BodyRows rows = documents.rows(id, deleted, revision, body, attachments);
    documents.put(tx, id, deleted, revision, rows);
  }

  private static List<String> leaves(RevisionMetadata metadata) {
    List<String> leaves = new ArrayList<>();
    HexFormat hex = HexFormat.of();
    metadata.forEachLeaf(
        (packed, path, pathEnd, value, valueEnd) ->
            leaves.add(
                hex.formatHex(packed, path, pathEnd)
                    + "="
                    + hex.formatHex(packed, value, valueEnd)));
    return leaves;
  }

  @Test
  void the_all_docs_index() {
    AllDocsSubspace allDocs = new AllDocsSubspace(db);
    AllDocsRow plain = new AllDocsRow("ü\0", PLAIN, 1);
    AllDocsRow odd = new AllDocsRow("b", ODD, 300);
    WrittenRows written =
        WrittenRows.of(
            store,
            new Range(
                DatabaseSubspace.ALL_DOCS.range(db.prefix()).begin,
                DatabaseSubspace.DELETED_DOCS.range(db.prefix()).end),
            tx -> {
              allDocs.put(tx, plain.id(), plain.winner(), plain.branchCount());
              allDocs.put(tx, odd.id(), odd.winner(), odd.branchCount());
              allDocs.setDeleted(tx, "ü\0", true);
              allDocs.setDeleted(tx, "b", false);
            });
    GoldenRows golden = GoldenRows.of("AllDocsSubspace", db.prefix(), written.stamp());

    golden.assertAre(written.rows());
    assertThat(allDocs.decode(golden.row("ü and a NUL"))).isEqualTo(plain);
    assertThat(allDocs.decode(golden.row("a hash of three letters"))).isEqualTo(odd);
    assertThat(allDocs.decodeDeleted(golden.row("a deleted document"))).isEqualTo("ü\0");
  }

  @Test
  void local_documents() {
    LocalDocsSubspace local = new LocalDocsSubspace(db);
    LocalEdit edit = TestDatabase.local("_local/a", "0-299", "{\"x\":1}");
    WrittenRows written =
        written(DatabaseSubspace.LOCAL_DOCS, tx -> local.write(tx, edit, local.rows(edit)));
    GoldenRows golden = GoldenRows.of("LocalDocsSubspace", db.prefix(), written.stamp());

    golden.assertAre(written.rows());
    assertThat(local.decode(golden.row("the row")))
        .isEqualTo(new LocalRow("_local/a", LocalDocsSubspace.revision(300)));
    assertThat(golden.key("the body")).startsWith(local.body("_local/a"));
  }

  @Test
  void purges() {
    PurgesSubspace purges = new PurgesSubspace(db);
    WrittenRows written =
        written(
            DatabaseSubspace.PURGES, tx -> purges.insert(tx, 258, "a", List.of(PLAIN, ODD, PLAIN)));
    GoldenRows golden = GoldenRows.of("PurgesSubspace", db.prefix(), written.stamp());

    golden.assertAre(written.rows());
    assertThat(purges.decode(golden.row("three leaves")))
        .isEqualTo(
            new PurgesSubspace.Purge(
                Sequence.of(0, written.stamp(), 258), "a", List.of(PLAIN, ODD, PLAIN)));
  }

  private static EditBranch winner(RevisionId leaf, boolean deleted, int branchCount) {
    return new EditBranch(leaf, deleted, Ancestors.NONE, BodySize.NONE, null)
        .winningAt(null, branchCount, Optional.empty());
  }

  @Test
  void the_changes_index() {
    ChangesSubspace changes = new ChangesSubspace(db);
    ShardId shard = new ShardId("12");
    WrittenRows written =
        written(
            DatabaseSubspace.CHANGES,
            tx -> {
              changes.insert(tx, shard, 1, "a", winner(PLAIN, false, 2));
              changes.insert(tx, shard, 258, "b", winner(ODD, true, 1));
            });
    GoldenRows golden = GoldenRows.of("ChangesSubspace", db.prefix(), written.stamp());

    KeyValue former = golden.row("an entry from before shards");
    List<KeyValue> rows = new ArrayList<>(written.rows());
    Sequence fixed = new Sequence(0, HexFormat.of().parseHex("000102030405060708090a0b"));
    TupleWriter formerKey = DatabaseSubspace.CHANGES_DEPRECATED.key(db.prefix());
    fixed.writeTo(formerKey);
    rows.add(new KeyValue(formerKey.toBytes(), former.getValue()));
    golden.assertAre(rows);
    assertThat(
            Stream.of("a live document", "a deleted one")
                .map(title -> changes.decode(shard, golden.row(title))))
        .containsExactly(
            new ChangeEntry(Sequence.of(0, written.stamp(), 1), "a", PLAIN, false, 2),
            new ChangeEntry(Sequence.of(0, written.stamp(), 258), "b", ODD, true, 1));
    assertThat(changes.decode(ShardId.DEPRECATED, former))
        .isEqualTo(new ChangeEntry(fixed, "a", PLAIN, false, 2));
  }
}
