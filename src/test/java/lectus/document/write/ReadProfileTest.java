package lectus.document.write;

import static lectus.document.testing.TestDatabase.deletion;
import static lectus.document.testing.TestDatabase.edit;
import static lectus.document.testing.TestDatabase.replicated;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import lectus.document.edit.Edit;
import lectus.document.testing.TestDatabase;
import lectus.revision.RevisionId;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** RFC 001, "Summarizing the performance profile": keys read, there or not, and round trips. */
class ReadProfileTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final TestDatabase db = TestDatabase.create(stores.fresh());

  private int documents = 1;

  private record Profile(int keys, int roundTrips) {}

  @AfterEach
  void audit() {
    db.audit(documents);
  }

  @Test
  void new_document() {
    assertThat(profileOf(edit("a", null, "{}"))).isEqualTo(new Profile(0, 1));
  }

  @Test
  void new_document_over_a_tombstone() {
    db.delete("a", db.put("a", "{}"));

    assertThat(profileOf(edit("a", null, "{}"))).isEqualTo(new Profile(1, 1));
  }

  @Test
  void extending_the_winning_branch() {
    fiveBranches();

    assertThat(profileOf(edit("a", RevisionId.of("1-e"), "{\"v\":1}")))
        .isEqualTo(new Profile(1, 1));
  }

  @Test
  void extending_a_losing_branch() {
    fiveBranches();

    assertThat(profileOf(edit("a", RevisionId.of("1-b"), "{\"v\":1}")))
        .isEqualTo(new Profile(2, 2));
  }

  @Test
  void extending_the_loser_of_two_branches() {
    branches("1-a", "9-b");

    assertThat(profileOf(edit("a", RevisionId.of("1-a"), "{\"v\":1}")))
        .isEqualTo(new Profile(2, 2));
  }

  /** An unread branch may be the same revision: a third key tells. */
  @Test
  void extending_a_losing_branch_far_below_the_winner_of_three() {
    branches("1-a", "1-b", "9-c");

    assertThat(profileOf(edit("a", RevisionId.of("1-a"), "{\"v\":1}")))
        .isEqualTo(new Profile(3, 3));
  }

  @Test
  void deleting_the_winning_branch() {
    branches("1-a", "1-b");

    assertThat(profileOf(deletion("a", RevisionId.of("1-b")))).isEqualTo(new Profile(2, 1));
  }

  @Test
  void deleting_the_last_live_branch_above_tombstones() {
    branches("5-e");
    tombstones("1-a", "1-b", "1-c");

    assertThat(profileOf(deletion("a", RevisionId.of("5-e")))).isEqualTo(new Profile(2, 1));
  }

  /** An unread branch may be the same tombstone: a third key tells. */
  @Test
  void deleting_the_winning_one_of_three_branches() {
    branches("1-a", "1-b", "1-c");

    assertThat(profileOf(deletion("a", RevisionId.of("1-c")))).isEqualTo(new Profile(3, 2));
  }

  @Test
  void deleting_the_only_branch() {
    RevisionId first = db.put("a", "{}");

    assertThat(profileOf(deletion("a", first))).isEqualTo(new Profile(1, 1));
  }

  /** It, the next in line, which is read in case that it wins, and the winner. */
  @Test
  void deleting_a_losing_branch() {
    branches("1-a", "1-b", "1-c");

    assertThat(profileOf(deletion("a", RevisionId.of("1-b")))).isEqualTo(new Profile(3, 2));
  }

  @Test
  void deleting_the_lowest_branch() {
    fiveBranches();

    assertThat(profileOf(deletion("a", RevisionId.of("1-a")))).isEqualTo(new Profile(2, 2));
  }

  @Test
  void replicated_revision() {
    fiveBranches();

    assertThat(profileOf(replicated("a", "{}", "2-f", "1-a"))).isEqualTo(new Profile(5, 1));
  }

  @Test
  void conflict() {
    fiveBranches();

    assertThat(profileOf(edit("a", RevisionId.of("1-x"), "{}"))).isEqualTo(new Profile(1, 1));
  }

  @Test
  void a_batch_takes_no_more_round_trips_than_one_edit() {
    fiveBranches();
    List<Edit> edits = new ArrayList<>();
    edits.add(edit("a", RevisionId.of("1-b"), "{\"v\":1}"));
    for (int i = 0; i < 100; i++) {
      edits.add(edit("new" + i, RevisionId.of("1-x"), "{}"));
      edits.add(replicated("other" + i, "{}", "2-f", "1-a"));
    }

    assertThat(profileOf(edits).roundTrips()).isEqualTo(2);
    documents = 101;
  }

  private void fiveBranches() {
    branches("1-a", "1-b", "1-c", "1-d", "1-e");
  }

  private void branches(String... leaves) {
    for (String leaf : leaves) {
      db.replicate("a", "{}", leaf);
    }
  }

  private void tombstones(String... leaves) {
    for (String leaf : leaves) {
      db.replicate("a", "{\"_deleted\":true}", leaf);
    }
  }

  private Profile profileOf(Edit edit) {
    return profileOf(List.of(edit));
  }

  private Profile profileOf(List<Edit> edits) {
    EditTransaction batch =
        new EditTransaction(db.catalogue, TransactionBudget.DEFAULT, WriteRules.NONE);
    return db.transactions.run(
        tx -> {
          // The catalogue's snapshot read, the same for every transaction, is not counted.
          try (RoundTrips network = new RoundTrips(tx)) {
            batch.write(network.transaction(), db.name, EditGroup.of(edits, Long.MAX_VALUE));
            return new Profile(network.keys(), network.trips());
          }
        });
  }
}
