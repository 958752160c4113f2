package lectus.document.write;

import static lectus.document.testing.TestDatabase.edit;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.changes.log.PurgesSubspace;
import lectus.changes.log.UpdateSequence;
import lectus.database.Sequence;
import lectus.document.testing.Purging;
import lectus.document.testing.TestDatabase;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;
import lectus.store.CountedReads;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a purge leaves of a document in each subspace. */
final class PurgesTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final TestDatabase db = TestDatabase.create(stores.fresh());

  private List<RevisionId> purged(String id, RevisionId... leaves) {
    return ((EditOutcome.Purged) db.write(Purging.of(id, leaves))).revisions();
  }

  private List<PurgesSubspace.Purge> remembered() {
    return db.read(
        (tx, handle) ->
            Awaiting.await(new PurgesSubspace(handle).after(tx, Optional.empty(), 20_000)));
  }

  private Sequence updateSequence() {
    return updateSequence(db);
  }

  private static Sequence updateSequence(TestDatabase database) {
    return database
        .read((tx, handle) -> Awaiting.await(new UpdateSequence(handle).read(tx)))
        .orElseThrow();
  }

  @Test
  void a_document_without_branches_is_gone_from_everywhere() {
    RevisionId other = db.put("b", "{}");
    RevisionId leaf = db.put("a", db.put("a", "{\"x\":1}"), "{\"x\":2}");
    Sequence before = updateSequence();

    assertThat(purged("a", leaf)).containsExactly(leaf);

    assertThat(db.branches("a")).isEmpty();
    assertThat(db.allDocsRow("a")).isEmpty();
    assertThat(db.changes().stream().map(ChangeEntry::docId)).containsExactly("b");
    assertThat(db.statistics().documents()).isEqualTo(1);
    assertThat(updateSequence()).isGreaterThan(before);
    assertThat(remembered())
        .containsExactly(new PurgesSubspace.Purge(updateSequence(), "a", List.of(leaf)));
    assertThat(db.leaves("b")).containsExactly(other.toString());
    db.audit(1);
  }

  @Test
  void where_nothing_was_purged_the_last_purge_is_not_read() {
    CountedReads counted = new CountedReads(db.store);
    TestDatabase elsewhere = TestDatabase.open(counted.store(), db.name.text());
    RevisionId a = db.put("a", "{}");
    RevisionId b = db.put("b", "{}");
    assertThat(readsOfEnd(elsewhere, counted)).as("a shard").isEqualTo(1);

    purged("b", b);
    assertThat(readsOfEnd(elsewhere, counted)).as("a shard and the last purge").isEqualTo(2);
    Sequence last = updateSequence();
    purged("a", a);
    assertThat(updateSequence()).isGreaterThan(last);
    assertThat(updateSequence(elsewhere)).isEqualTo(updateSequence());
  }

  private static long readsOfEnd(TestDatabase database, CountedReads counted) {
    return database.read(
        (tx, handle) -> {
          long before = counted.reads();
          Awaiting.await(new UpdateSequence(handle).read(tx));
          return counted.reads() - before;
        });
  }

  @Test
  void a_tombstone_is_counted_no_longer() {
    RevisionId tombstone = db.delete("a", db.put("a", "{}"));

    purged("a", tombstone);

    assertThat(db.statistics().deletedDocuments()).isZero();
    assertThat(db.statistics().activeBytes()).isZero();
    db.audit(0);
  }

  @Test
  void the_winner_is_followed_by_the_next_one_at_a_new_place_in_the_changes() {
    db.replicate("a", "{\"v\":1}", "2-a", "1-x");
    db.replicate("a", "{\"v\":2}", "2-b", "1-x");
    db.put("b", "{}");

    purged("a", RevisionId.of("2-b"));

    assertThat(db.leaves("a")).containsExactly("2-a");
    assertThat(db.changes().stream().map(ChangeEntry::docId)).containsExactly("b", "a");
    assertThat(db.changes().get(1).winner()).isEqualTo(RevisionId.of("2-a"));
    assertThat(db.changes().get(1).branchCount()).isEqualTo(1);
  }

  @Test
  void a_loser_leaves_the_winner_at_a_new_place_in_the_changes() {
    db.replicate("a", "{}", "2-a", "1-x");
    db.replicate("a", "{}", "2-b", "1-x");
    db.put("b", "{}");

    purged("a", RevisionId.of("2-a"));

    assertThat(db.leaves("a")).containsExactly("2-b");
    assertThat(db.changes().stream().map(ChangeEntry::docId)).containsExactly("b", "a");
    assertThat(db.statistics().documents()).isEqualTo(2);
  }

  @Test
  void a_document_whose_last_live_branch_is_purged_is_deleted() {
    db.replicate("a", "{\"_deleted\":true}", "5-d", "4-x");
    db.replicate("a", "{}", "2-b", "1-x");
    assertThat(db.statistics().documents()).isEqualTo(1);

    purged("a", RevisionId.of("2-b"));

    assertThat(db.leaves("a")).containsExactly("(5-d)");
    assertThat(db.allDocsRow("a")).isEmpty();
    assertThat(db.statistics().documents()).isZero();
    assertThat(db.statistics().deletedDocuments()).isEqualTo(1);
  }

  @Test
  void what_is_no_leaf_stays_and_nothing_is_written() {
    RevisionId first = db.put("a", "{}");
    db.put("a", first, "{}");
    Sequence before = updateSequence();

    assertThat(purged("a", first, RevisionId.of("7-none"))).isEmpty();
    assertThat(purged("nobody", first)).isEmpty();
    assertThat(purged("x".repeat(20_000), first)).isEmpty();

    assertThat(updateSequence()).isEqualTo(before);
    assertThat(remembered()).isEmpty();
  }

  @Test
  void what_was_purged_can_come_again() {
    db.replicate("a", "{\"v\":1}", "3-c", "2-b", "1-a");
    purged("a", RevisionId.of("3-c"));

    db.replicate("a", "{\"v\":2}", "2-b", "1-a");
    assertThat(db.leaves("a")).containsExactly("2-b");
    db.replicate("a", "{\"v\":1}", "3-c", "2-b");
    assertThat(db.leaves("a")).containsExactly("3-c");
    db.audit(1);
  }

  @Test
  void no_more_purges_are_remembered_than_the_limit_says() {
    db.catalogue.configure(db.name, was -> was.withPurgedInfosLimit(3));
    for (int i = 0; i < 3; i++) {
      purged("d" + i, db.put("d" + i, "{}"));
    }
    assertThat(remembered())
        .extracting(PurgesSubspace.Purge::docId)
        .containsExactly("d0", "d1", "d2");

    purged("e", db.put("e", "{}"));
    assertThat(remembered())
        .extracting(PurgesSubspace.Purge::docId)
        .containsExactly("d1", "d2", "e");

    List<Purging.Named> many = new ArrayList<>();
    IntStream.range(0, 5).forEach(i -> many.add(new Purging.Named("f" + i, db.put("f" + i, "{}"))));
    db.write(many.stream().map(it -> Purging.of(it.id(), it.leaf())).toList());
    assertThat(remembered())
        .extracting(PurgesSubspace.Purge::docId)
        .containsExactly("f2", "f3", "f4");
    assertThat(db.changes()).isEmpty();
  }

  @Test
  void so_many_leaves_fit_into_one_row_and_no_more() {
    String odd = "x".repeat(250);
    int most =
        PurgesSubspace.MAX_BYTES / PurgesSubspace.sizeOf(List.of(RevisionId.of("1-000" + odd)));
    List<String> leaves =
        IntStream.rangeClosed(0, most).mapToObj(i -> "1-%03d%s".formatted(i, odd)).toList();
    for (String leaf : leaves) {
      db.replicate("a", "{}", leaf);
    }
    RevisionId[] all = leaves.stream().map(RevisionId::of).toArray(RevisionId[]::new);
    assertThat(TestDatabase.error(db.write(Purging.of("a", all))).error()).isEqualTo("too_large");
    assertThat(db.branches("a")).hasSize(most + 1);

    RevisionId[] fewer = leaves.stream().skip(1).map(RevisionId::of).toArray(RevisionId[]::new);
    assertThat(purged("a", fewer)).hasSize(most);
    assertThat(db.leaves("a")).containsExactly(leaves.get(0));
    assertThat(remembered().get(0).leaves()).hasSize(most);
  }

  @Test
  void partitions_and_shards_count_what_is_left() {
    TestDatabase parted = TestDatabase.partitioned(stores.fresh());
    RevisionId leaf = parted.put("p:a", "{\"x\":1}");
    parted.put("p:b", "{}");
    parted.catalogue.reshard(parted.name, 3);

    parted.write(Purging.of("p:a", leaf));
    parted.write(edit("p:c", null, "{}"));

    parted.audit(2);
  }
}
