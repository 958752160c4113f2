package lectus.document.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Optional;
import lectus.database.DatabaseConfiguration.BodyLayout;
import lectus.document.AttachmentJson.FollowingAttachments;
import lectus.document.testing.TestDatabase;
import lectus.error.LectusException;
import lectus.json.FieldPath;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionId;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** RFC 004, CRUD Operations: the reads for a document, besides the catalogue's. */
class DocumentReadCostTest {
  private static final List<FieldPath> FIELDS = List.of(FieldPath.parse("v"), FieldPath.parse("x"));

  @RegisterExtension static final TestStores stores = new TestStores();

  private final TestDatabase db = TestDatabase.create(stores.fresh());
  private final DocumentReader reader =
      new DocumentReader(db.catalogue, db.transactions, new DocumentCache(1 << 20));

  @Test
  void default_read_is_one_range_read() {
    db.replicate("a", "{\"v\":1}", "2-a");
    db.replicate("a", "{\"v\":2,\"w\":3}", "2-b");

    assertThat(readsOf("a", DocumentQuery.DEFAULT)).containsExactly("getRange");
  }

  @Test
  void what_was_read_twice_before_costs_one_key() {
    db.put("a", "{\"v\":1}");

    assertThat(readsOf("a", DocumentQuery.DEFAULT)).containsExactly("getRange");
    assertThat(readsOf("a", DocumentQuery.DEFAULT)).containsExactly("getRange", "getRange");
    assertThat(readsOf("a", DocumentQuery.DEFAULT)).containsExactly("get");
  }

  @Test
  void read_of_a_live_leaf_by_its_revision_is_one_range_read() {
    RevisionId first = db.put("a", "{\"v\":1}");

    assertThat(readsOf("a", atRevision(first, List.of()))).containsExactly("getRange");
  }

  @Test
  void document_that_is_not_there_costs_two_more_keys() {
    db.delete("a", db.put("a", "{\"v\":1}"));

    db.read(
        (tx, handle) -> {
          CountedReads counted = new CountedReads(tx);
          assertThatThrownBy(
                  () ->
                      reader.read(
                          counted.transaction(),
                          handle,
                          "a",
                          DocumentQuery.DEFAULT,
                          new JsonBuffer(64),
                          new FollowingAttachments()))
              .isInstanceOf(LectusException.class);
          assertThat(counted.reads()).containsExactly("getRange", "get", "get");
          return null;
        });
  }

  @Test
  void each_field_of_a_known_revision_is_one_range_read() {
    TestDatabase rows = TestDatabase.create(stores.fresh(), BodyLayout.RFC004);
    RevisionId first = rows.put("a", "{\"v\":1,\"w\":2,\"x\":3}");

    assertThat(readsOf(rows, "a", atRevision(first, FIELDS)))
        .containsExactly("get", "get", "get", "getRange", "getRange");
  }

  @Test
  void all_fields_of_a_small_document_are_one_key() {
    TestDatabase inline = TestDatabase.create(stores.fresh(), BodyLayout.INLINE);
    RevisionId first = inline.put("a", "{\"v\":1,\"w\":2,\"x\":3}");
    RevisionId large = inline.put("b", "{\"v\":1,\"w\":\"" + "x".repeat(9_000) + "\",\"x\":3}");

    assertThat(readsOf(inline, "a", atRevision(first, FIELDS)))
        .containsExactly("get", "get", "get");
    assertThat(readsOf(inline, "b", atRevision(large, FIELDS)))
        .containsExactly("get", "get", "get", "getRange", "getRange");
  }

  private List<String> readsOf(String id, DocumentQuery options) {
    return readsOf(db, id, options);
  }

  private List<String> readsOf(TestDatabase database, String id, DocumentQuery options) {
    return database.read(
        (tx, handle) -> {
          CountedReads counted = new CountedReads(tx);
          reader.read(
              counted.transaction(),
              handle,
              id,
              options,
              new JsonBuffer(64),
              new FollowingAttachments());
          return counted.reads();
        });
  }

  private static DocumentQuery atRevision(RevisionId revision, List<FieldPath> fields) {
    return new DocumentQuery(Optional.of(revision), false, false, false, false, false, fields);
  }
}
