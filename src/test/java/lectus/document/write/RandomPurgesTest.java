package lectus.document.write;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import lectus.attachment.AttachmentKeys;
import lectus.audit.testing.SoundStore;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.document.testing.Purging;
import lectus.document.testing.TestDatabase;
import lectus.http.testing.LectusServer;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random histories of documents with attachments in a database with indexes and stored feeds, of
 * which leaves are purged and old tombstones swept in between. The auditor compares what is left of
 * them everywhere, and in the end nothing is.
 */
final class RandomPurgesTest {
  private static final int STEPS = Integer.getInteger("lectus.purges.steps", 60);

  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final Store store = stores.fresh();
  private long now = 1_800_000_000;
  private TestDatabase db;
  private Random random;
  private LectusServer server;

  static LongStream seeds() {
    long first = Long.getLong("lectus.test.seed", 1);
    return LongStream.range(first, first + Integer.getInteger("lectus.purges.seeds", 3));
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void purges_and_sweeps_leave_nothing_behind(long seed) {
    random = new Random(seed);
    try (LectusServer started = LectusServer.start(store)) {
      server = started;
      define();
      TombstoneSweep sweep =
          new TombstoneSweep(store, db.catalogue, db.writer, () -> Instant.ofEpochSecond(now));
      for (int step = 0; step < STEPS; step++) {
        if (random.nextInt(8) == 0) {
          sweep(sweep);
        } else {
          step("d" + random.nextInt(8));
        }
      }
      SoundStore.assertSound(store);
      deleteAll();
      sweep(sweep);
      sweep(sweep);
      assertNothingIsLeft();
    }
  }

  private void define() {
    assertCreated("/w?changes_shards=" + (1 + random.nextInt(3)), "");
    db = TestDatabase.open(store, "w");
    server.put("/w/_auto_purge", "{\"deleted_document_ttl\":\"1_h\"}");
    server.post("/w/_index", "{\"index\":{\"fields\":[\"n\"]},\"ddoc\":\"i\",\"name\":\"n\"}");
    assertCreated("/w/_feeds/s", "{\"selector\":{\"n\":{\"$gt\":1}}}");
    assertCreated("/w/_feeds/c", "{\"channels\":\"ch\"}");
  }

  private void assertCreated(String target, String json) {
    (json.isEmpty() ? server.put(target) : server.put(target, json)).expect(201);
  }

  private void step(String id) {
    List<EditBranch> branches = db.branches(id);
    switch (random.nextInt(10)) {
      case 0, 1 -> purge(id, branches);
      case 2, 3, 4 -> replicate(id, random.nextBoolean());
      case 5 -> deleteSome(id, branches);
      case 6 -> reshard();
      default -> edit(id, branches);
    }
  }

  private void edit(String id, List<EditBranch> branches) {
    String base =
        branches.isEmpty() || branches.get(0).deleted()
            ? ""
            : "\"_rev\":\"" + branches.get(0).leaf() + "\",";
    server.put("/w/" + id, "{" + base + content() + "}").expect(201);
  }

  private void replicate(String id, boolean deleted) {
    String revision = (1 + random.nextInt(3)) + "-" + "%032x".formatted(random.nextInt(500));
    String document =
        "{\"_id\":\"%s\",\"_rev\":\"%s\",%s%s}"
            .formatted(id, revision, deleted ? "\"_deleted\":true," : "", content());
    server.post("/w/_bulk_docs", "{\"new_edits\":false,\"docs\":[" + document + "]}").expect(201);
  }

  private String content() {
    String content = "\"n\":" + random.nextInt(4);
    if (random.nextBoolean()) {
      content += ",\"ch\":[\"a\",\"" + "bc".charAt(random.nextInt(2)) + "\"]";
    }
    if (random.nextBoolean()) {
      String data = List.of("YQ==", "Yg==", "Yw==").get(random.nextInt(3));
      content += ",\"_attachments\":{\"f\":{\"data\":\"" + data + "\"}}";
    }
    return content;
  }

  private void deleteSome(String id, List<EditBranch> branches) {
    for (EditBranch branch : branches) {
      if (!branch.deleted() && random.nextBoolean()) {
        db.delete(id, branch.leaf());
      }
    }
  }

  private void reshard() {
    server.put("/w/_changes/_meta", "{\"shards\":" + (1 + random.nextInt(3)) + "}");
  }

  private void purge(String id, List<EditBranch> branches) {
    RevisionId[] some =
        branches.stream()
            .map(EditBranch::leaf)
            .filter(leaf -> random.nextInt(3) > 0)
            .toArray(RevisionId[]::new);
    db.write(Purging.of(id, some));
  }

  /** A round later than all that was written, which goes in the round after. */
  private void sweep(TombstoneSweep sweep) {
    now += 7_200;
    boolean more;
    do {
      more = sweep.step();
    } while (more);
  }

  private void deleteAll() {
    for (ChangeEntry entry : db.changes()) {
      if (!entry.docId().startsWith("_design/")) {
        for (EditBranch branch : db.branches(entry.docId())) {
          if (!branch.deleted()) {
            db.delete(entry.docId(), branch.leaf());
          }
        }
      }
    }
  }

  private void assertNothingIsLeft() {
    assertThat(db.changes().stream().map(ChangeEntry::docId)).containsExactly("_design/i");
    assertThat(db.statistics().deletedDocuments()).isZero();
    assertThat(server.get("/w/_all_docs").body()).contains("\"total_rows\":1");
    String found = server.post("/w/_find", "{\"selector\":{\"n\":{\"$gt\":null}}}").body();
    assertThat(found).contains("\"docs\":[").doesNotContain("\"n\"");
    for (String feed : List.of("s", "c&channel=a&channel=b&channel=c")) {
      assertThat(server.get("/w/_changes?left=true&filter=_feed/" + feed).body())
          .doesNotContain("\"id\"");
    }
    assertThat(rows(AttachmentKeys.REFERENCES)).isZero();
  }

  private int rows(AttachmentKeys part) {
    return db.read(
        (tx, handle) -> Awaiting.await(tx.getRange(part.range(handle.prefix())).asList()).size());
  }
}
