package lectus.revision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseSubspace;
import lectus.database.Sequence;
import lectus.database.testing.TestLayout;
import lectus.json.MalformedTupleException.NewerFormatException;
import lectus.json.TupleWriter;
import lectus.revision.EditBranch.BodySize;
import lectus.revision.EditBranch.Winner;
import lectus.revision.RevisionsSubspace.Won;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.TransactionRunner.CommitResult;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class RevisionsSubspaceTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final Store store = stores.fresh();
  private final TransactionRunner transactions =
      new TransactionRunner(store, TransactionLimits.DEFAULT);
  private final DatabaseHandle db =
      new Catalogue(store, transactions, InstantSource.system())
          .create(DatabaseName.of("db"), TestLayout.OPTIONS);
  private final RevisionsSubspace revisions = new RevisionsSubspace(db);

  @Test
  void a_winning_branch_gets_the_sequence_of_its_transaction() {
    EditBranch branch = branch("3-c", false, new BodySize(7, 99), "2-b", "1-a");

    CommitResult<Void> committed =
        transactions.runVersioned(
            tx -> {
              revisions.put(tx, "a", branch.winning(2, Optional.empty()), 513);
              return null;
            });

    EditBranch read =
        transactions.read(tx -> Awaiting.await(revisions.winner(tx, "a")).orElseThrow());
    assertThat(read.winner())
        .isEqualTo(new Winner(Sequence.of(0, committed.versionstamp(), 513), 2, Optional.empty()));
    assertThat(read.losing()).isEqualTo(branch);
  }

  @Test
  void a_losing_branch_comes_back_as_it_was() {
    EditBranch branch = branch("3-ffffffffffffffffffffffffffffffff", true, BodySize.NONE);
    put("a", branch);

    assertThat(
            transactions.<EditBranch>read(
                tx -> Awaiting.await(revisions.branch(tx, "a", true, branch.leaf())).orElseThrow()))
        .isEqualTo(branch);
    assertThat(
            transactions.<Boolean>read(
                tx -> Awaiting.await(revisions.branch(tx, "a", false, branch.leaf())).isPresent()))
        .isFalse();
  }

  @Test
  void keys_sort_like_winners() {
    List<EditBranch> branches = new ArrayList<>();
    for (boolean deleted : new boolean[] {true, false}) {
      for (String leaf :
          List.of(
              "1-00000000000000000000000000000000",
              "1-00ff0000000000000000000000000000",
              "1-ffffffffffffffffffffffffffffffff",
              "1-a",
              "1-aa",
              "1-\0",
              "1-",
              "1-61000000000000000000000000000000",
              "1-abcdefghijklmnop",
              "1-abcdefghijklmnopq",
              "0-a",
              "2-00000000000000000000000000000000",
              "9-b",
              "10-a",
              "256-a",
              "999999999999999999-a")) {
        branches.add(branch(leaf, deleted, BodySize.NONE));
      }
    }
    Collections.shuffle(branches, new Random(1));
    branches.forEach(branch -> put("a", branch));

    List<EditBranch> read = transactions.read(tx -> Awaiting.await(revisions.branches(tx, "a")));

    branches.sort(EditBranch.WINNER_FIRST);
    assertThat(read).isEqualTo(branches);
  }

  @Test
  void winners_come_in_the_order_of_ids_however_many_branches_are_read_together() {
    put("a", winner("2-b"));
    for (int i = 0; i < 4; i++) {
      put("b", branch("1-" + i, i % 2 == 0, BodySize.NONE));
    }
    put("b", winner("2-a"));
    put("b\0", winner("1-a"));

    for (int branches = 1; branches <= 8; branches++) {
      List<String> ids = new ArrayList<>();
      List<Won> some;
      do {
        Optional<String> behind =
            ids.isEmpty() ? Optional.empty() : Optional.of(ids.get(ids.size() - 1));
        int most = branches;
        some = transactions.read(tx -> revisions.winners(tx, behind, most));
        some.forEach(it -> ids.add(it.docId()));
      } while (!some.isEmpty());
      assertThat(ids).containsExactly("a", "b", "b\0");
    }
  }

  private static EditBranch winner(String leaf) {
    return branch(leaf, false, BodySize.NONE).winning(1, Optional.empty());
  }

  @Test
  void branches_of_other_documents_are_not_read() {
    for (String id : List.of("a", "a\0", "a\0b", "aa", "", "b")) {
      put(id, branch("1-" + id.length() + "x", false, BodySize.NONE));
    }

    assertThat(
            transactions.<List<EditBranch>>read(tx -> Awaiting.await(revisions.branches(tx, "a"))))
        .hasSize(1);
    assertThat(
            transactions.<Boolean>read(tx -> Awaiting.await(revisions.winner(tx, "c")).isEmpty()))
        .isTrue();
  }

  @Test
  void next_in_line_is_the_branch_right_below() {
    put("a", branch("1-a", true, BodySize.NONE));
    put("a", branch("1-b", false, BodySize.NONE));
    put("a", branch("1-c", false, BodySize.NONE));
    put("a", branch("1-d", false, BodySize.NONE));

    assertThat(nextInLine("1-c")).containsExactly(RevisionId.of("1-c"), RevisionId.of("1-b"));
    assertThat(nextInLine("1-b")).containsExactly(RevisionId.of("1-b"), RevisionId.of("1-a"));
    assertThat(nextInLine("1-cc")).containsExactly(RevisionId.of("1-c"), RevisionId.of("1-b"));
  }

  private List<RevisionId> nextInLine(String leaf) {
    return transactions
        .<List<EditBranch>>read(
            tx -> Awaiting.await(revisions.withNextInLine(tx, "a", RevisionId.of(leaf))))
        .stream()
        .map(EditBranch::leaf)
        .toList();
  }

  @Test
  void four_thousand_ancestors_of_nothing_but_nuls_are_stored() {
    List<RevisionHash> nuls = Collections.nCopies(4000, RevisionHash.of(new byte[16]));
    EditBranch branch =
        new EditBranch(
            RevisionId.of("4001-" + "0".repeat(32)),
            false,
            Ancestors.of(nuls, Ancestors.MAX_COUNT),
            new BodySize(Long.MAX_VALUE, Long.MAX_VALUE),
            null);
    put("\0".repeat(512), branch.winning(Integer.MAX_VALUE, Optional.empty()));

    EditBranch read =
        transactions.read(
            tx -> Awaiting.await(revisions.winner(tx, "\0".repeat(512))).orElseThrow());
    assertThat(read.losing()).isEqualTo(branch);
  }

  @Test
  void another_format_is_told_from_damage() {
    EditBranch branch = branch("1-a", false, BodySize.NONE);
    TupleWriter key = DatabaseSubspace.REVISIONS.key(db.prefix()).string("a").bool(true).integer(1);
    branch.leaf().hash().writeTo(key);
    transactions.run(
        tx -> {
          tx.set(key.toBytes(), new TupleWriter(8).integer(5).nil().toBytes());
          return null;
        });

    assertThatThrownBy(
            () ->
                transactions.<Object>read(
                    tx -> Awaiting.await(revisions.branch(tx, "a", false, branch.leaf()))))
        .isInstanceOf(NewerFormatException.class)
        .hasMessage(
            "An edit branch was written by a newer version of Lectus: it has format 5, this version"
                + " reads up to 4");
  }

  private void put(String id, EditBranch branch) {
    transactions.run(
        tx -> {
          revisions.put(tx, id, branch, 0);
          return null;
        });
  }

  private static EditBranch branch(
      String leaf, boolean deleted, BodySize body, String... ancestors) {
    List<RevisionHash> hashes = new ArrayList<>();
    for (String ancestor : ancestors) {
      hashes.add(RevisionId.of(ancestor).hash());
    }
    return new EditBranch(RevisionId.of(leaf), deleted, Ancestors.of(hashes, 1000), body, null);
  }
}
