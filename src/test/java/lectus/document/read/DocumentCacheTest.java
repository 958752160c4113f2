package lectus.document.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Optional;
import lectus.database.DatabaseConfiguration.BodyLayout;
import lectus.database.DatabaseRequest;
import lectus.database.testing.TestLayout;
import lectus.document.AttachmentJson.FollowingAttachments;
import lectus.document.RevisionMetadata;
import lectus.document.testing.Purging;
import lectus.document.testing.TestDatabase;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionId;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A cached document is answered as currently stored, whatever happened in between. */
class DocumentCacheTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final TestDatabase db = TestDatabase.create(stores.fresh());
  private final DocumentCache hot = new DocumentCache(1 << 20);
  private final DocumentReader reader = new DocumentReader(db.catalogue, db.transactions, hot);

  @Test
  void is_answered_with_the_same_bytes() {
    db.put("a", "{\"v\":[1,{\"w\":null}]}");
    String cold = read("a");

    assertThat(isHot("a")).as("read once").isFalse();
    assertThat(read("a")).isEqualTo(cold);
    assertThat(isHot("a")).isTrue();
    assertThat(read("a")).isEqualTo(cold);
  }

  @Test
  void an_update_is_seen() {
    RevisionId first = db.put("a", "{\"v\":1}");
    readTwice("a");
    db.put("a", first, "{\"v\":2}");

    assertThat(isHot("a")).isFalse();
    assertThat(read("a")).contains("\"v\":2");
    assertThat(isHot("a")).isTrue();
  }

  @Test
  void a_deletion_is_seen() {
    RevisionId first = db.put("a", "{\"v\":1}");
    readTwice("a");
    db.delete("a", first);

    assertThatThrownBy(() -> read("a")).isInstanceOf(LectusException.class);
  }

  @Test
  void a_revision_that_wins_by_replication_is_seen() {
    db.replicate("a", "{\"v\":1}", "1-a");
    readTwice("a");
    db.replicate("a", "{\"v\":2}", "1-b");

    assertThat(isHot("a")).isFalse();
    assertThat(read("a")).contains("\"v\":2");
    assertThat(isHot("a")).as("a document in conflict").isTrue();
    db.delete("a", RevisionId.of("1-b"));
    assertThat(read("a")).contains("\"v\":1");
  }

  @Test
  void a_purged_revision_that_comes_again_with_another_body_is_seen() {
    db.replicate("a", "{\"v\":1}", "1-a");
    readTwice("a");
    assertThat(isHot("a")).isTrue();
    db.write(Purging.of("a", RevisionId.of("1-a")));
    db.replicate("a", "{\"v\":2}", "1-a");

    assertThat(isHot("a")).isFalse();
    assertThat(read("a")).contains("\"v\":2");
    assertThat(isHot("a")).isTrue();
  }

  @Test
  void a_deleted_document_whose_tombstone_is_purged_may_come_again_with_another_body() {
    db.replicate("a", "{\"v\":1}", "1-a");
    readTwice("a");
    RevisionId deleted = db.delete("a", RevisionId.of("1-a"));
    db.write(Purging.of("a", deleted));
    db.replicate("a", "{\"v\":2}", "1-a");

    assertThat(read("a")).contains("\"v\":2");
  }

  @Test
  void a_loser_that_is_purged_and_comes_again_to_win_is_seen() {
    db.replicate("a", "{\"v\":1}", "1-b");
    readTwice("a");
    db.replicate("a", "{\"v\":2}", "1-a");
    db.write(Purging.of("a", RevisionId.of("1-b")));
    db.replicate("a", "{\"v\":3}", "1-b");

    assertThat(read("a")).contains("\"_rev\":\"1-b\"").contains("\"v\":3");
  }

  @Test
  void a_database_created_again_is_another() {
    db.put("a", "{\"v\":1}");
    readTwice("a");
    db.catalogue.delete(db.name);
    db.catalogue.create(db.name, TestLayout.OPTIONS);

    assertThatThrownBy(() -> read("a")).isInstanceOf(LectusException.class);
  }

  @Test
  void a_forgotten_revision_that_comes_again_with_another_body_is_seen() {
    db.revsLimit(1);
    db.replicate("a", "{\"v\":1}", "1-a");
    readTwice("a");
    db.replicate("a", "{\"v\":2}", "2-b", "1-a");
    db.replicate("a", "{\"v\":3}", "1-a");
    db.delete("a", RevisionId.of("2-b"));

    assertThat(read("a")).contains("\"_rev\":\"1-a\"").contains("\"v\":3");
  }

  @Test
  void an_earlier_read_version_sees_what_was_then() {
    RevisionId first = db.put("a", "{\"v\":1}");
    readTwice("a");
    db.read(
        (tx, handle) -> {
          db.put("a", first, "{\"v\":2}");
          assertThat(read("a")).contains("\"v\":2");
          JsonBuffer then = new JsonBuffer(64);
          reader.read(tx, handle, "a", DocumentQuery.DEFAULT, then, new FollowingAttachments());
          assertThat(then.toString()).contains("\"v\":1");
          return null;
        });
  }

  @Test
  void what_does_not_fit_is_read_again() {
    DocumentCache none = new DocumentCache(1);
    DocumentReader cold = new DocumentReader(db.catalogue, db.transactions, none);
    db.put("a", "{\"v\":1}");
    cold.read(DatabaseRequest.byServer(db.name), "a", DocumentQuery.DEFAULT, new JsonBuffer(64));

    JsonBuffer again = new JsonBuffer(64);
    cold.read(DatabaseRequest.byServer(db.name), "a", DocumentQuery.DEFAULT, again);
    assertThat(again.toString()).contains("\"v\":1");
  }

  @Test
  void what_takes_too_large_a_part_of_the_memory_is_not_kept() {
    db.put("a", "{\"v\":\"" + "x".repeat(200_000) + "\"}");
    int bytes = read("a").length();
    DocumentReader reader =
        new DocumentReader(db.catalogue, db.transactions, new DocumentCache(64L * bytes));
    DocumentReader smaller =
        new DocumentReader(db.catalogue, db.transactions, new DocumentCache(64L * bytes - 1));
    for (DocumentReader each : List.of(reader, reader, smaller, smaller)) {
      each.read(DatabaseRequest.byServer(db.name), "a", DocumentQuery.DEFAULT, new JsonBuffer(64));
    }

    TestStores.onlyEmbedded();
    assertThat(reader.readHot(DatabaseRequest.byServer(db.name), "a", new JsonBuffer(64)))
        .isPresent();
    assertThat(smaller.readHot(DatabaseRequest.byServer(db.name), "a", new JsonBuffer(64)))
        .isEmpty();
  }

  @Test
  void an_event_loop_is_given_what_was_read_lately_and_is_current() {
    TestStores.onlyEmbedded();
    String more = ",\"w\":\"" + "x".repeat(RevisionMetadata.MAX_INLINE_BYTES) + "\"}";
    RevisionId first = db.put("a", "{\"v\":1" + more);
    assertThat(readHot("a")).as("not read yet").isEmpty();
    read("a");
    String cold = read("a");
    assertThat(readHot("a")).hasValue(cold);

    RevisionId second = db.put("a", first, "{\"v\":2" + more);
    assertThat(readHot("a")).as("updated").isEmpty();
    read("a");
    assertThat(readHot("a").orElseThrow()).contains("\"v\":2");
    db.delete("a", second);
    assertThat(readHot("a")).as("deleted").isEmpty();
  }

  @Test
  void an_event_loop_is_given_a_document_of_one_row() {
    TestStores.onlyEmbedded();
    TestDatabase inline = TestDatabase.create(stores.fresh(), BodyLayout.INLINE);
    RevisionId first = inline.put("a", "{\"v\":1}");
    assertThat(readHot(inline, "a")).hasValue(documentOf(first, 1));

    RevisionId second = inline.put("a", first, "{\"v\":2}");
    for (int read = 0; read < 3; read++) {
      assertThat(readHot(inline, "a")).as("read " + read).hasValue(documentOf(second, 2));
    }
    inline.delete("a", second);
    assertThat(readHot(inline, "a")).as("deleted").isEmpty();
  }

  private static String documentOf(RevisionId revision, int value) {
    return "{\"_id\":\"a\",\"_rev\":\"" + revision + "\",\"v\":" + value + "}";
  }

  @Test
  void an_event_loop_is_told_at_once_that_a_database_is_gone() {
    TestStores.onlyEmbedded();
    db.put("a", "{\"v\":1}");
    readTwice("a");
    db.catalogue.delete(db.name);

    assertThatThrownBy(() -> read("a")).isInstanceOf(LectusException.class);
    assertThat(hotOrMissing("a")).isEqualTo("missing");
  }

  private String hotOrMissing(String id) {
    try {
      return readHot(id).orElse("missing");
    } catch (LectusException e) {
      return "missing";
    }
  }

  private Optional<String> readHot(String id) {
    return readHot(db, id);
  }

  private Optional<String> readHot(TestDatabase db, String id) {
    DocumentReader reader = new DocumentReader(db.catalogue, db.transactions, hot);
    JsonBuffer out = new JsonBuffer(64);
    return reader
        .readHot(DatabaseRequest.byServer(db.name), id, out)
        .map(revision -> out.toString());
  }

  private String read(String id) {
    JsonBuffer out = new JsonBuffer(64);
    reader.read(DatabaseRequest.byServer(db.name), id, DocumentQuery.DEFAULT, out);
    return out.toString();
  }

  /** The second read keeps it. */
  private void readTwice(String id) {
    assertThat(read(id)).isEqualTo(read(id));
  }

  private boolean isHot(String id) {
    return db.read((tx, handle) -> hot.find(tx, handle, id).isPresent());
  }
}
