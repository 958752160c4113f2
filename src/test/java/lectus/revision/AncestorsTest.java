package lectus.revision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import lectus.json.MalformedTupleException;
import lectus.json.TupleWriter;
import lectus.revision.BranchMerge.Arrival;
import lectus.revision.EditBranch.BodySize;
import lectus.revision.EditBranch.Winner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AncestorsTest {
  private static final RevisionHash NULS = RevisionHash.of(new byte[16]);

  @Test
  void round_trip_of_plain_hashes() {
    List<RevisionHash> hashes = List.of(plain(1), plain(2), NULS, plain(3));

    assertThat(reread(Ancestors.of(hashes, 1000)).toList()).isEqualTo(hashes);
  }

  @Test
  void round_trip_of_odd_hashes_among_plain_ones() {
    List<RevisionHash> hashes = List.of(odd("a"), plain(2), odd("x".repeat(255)), NULS, odd(""));

    Ancestors reread = reread(Ancestors.of(hashes, 1000));

    assertThat(reread.toList()).isEqualTo(hashes);
    assertThat(reread.count()).isEqualTo(5);
    assertThat(reread.holds(odd(""), 4)).isTrue();
    assertThat(reread.holds(odd(""), 3)).isFalse();
  }

  @Test
  void a_text_of_sixteen_bytes_is_the_hash_of_these_bytes() {
    RevisionHash text = odd("0123456789abcdef");
    RevisionHash hash = RevisionHash.of("0123456789abcdef".getBytes(StandardCharsets.US_ASCII));
    Ancestors plain = reread(Ancestors.of(List.of(text, hash), 10));

    assertThat(encoded(plain)).hasSize(1 + 2 * 16);
    assertThat(plain.holds(hash, 0)).isTrue();
    assertThat(plain.holds(text, 1)).isTrue();
  }

  @Test
  void no_ancestors_take_no_bytes() {
    assertThat(encoded(Ancestors.NONE)).isEmpty();
    assertThat(reread(Ancestors.NONE).count()).isZero();
  }

  @Test
  void four_thousand_hashes_of_nothing_but_nuls_fit_in_a_value() {
    List<RevisionHash> nuls = new ArrayList<>();
    for (int i = 0; i < 4001; i++) {
      nuls.add(NULS);
    }

    Ancestors ancestors = Ancestors.of(nuls, Ancestors.MAX_COUNT);

    assertThat(ancestors.count()).isEqualTo(4000);
    assertThat(encoded(ancestors)).hasSize(64_001);
    assertThat(ancestors.below(NULS, Ancestors.MAX_COUNT).count()).isEqualTo(4000);
    nuls.set(0, odd("a"));
    assertThat(Ancestors.of(nuls, Ancestors.MAX_COUNT).count()).isEqualTo(4000);
  }

  @Test
  void long_odd_hashes_are_cut_off_before_the_value_is_full() {
    List<RevisionHash> hashes = new ArrayList<>();
    for (int i = 0; i < 4000; i++) {
      hashes.add(odd(String.format("%0255d", i)));
    }

    Ancestors ancestors = Ancestors.of(hashes, 4000);

    assertThat(ancestors.count()).isEqualTo(Ancestors.MAX_BYTES / 256);
    assertThat(ancestors.toList()).isEqualTo(hashes.subList(0, ancestors.count()));
    assertThat(ancestors.below(odd("y".repeat(255)), 4000).count()).isEqualTo(ancestors.count());
  }

  @Test
  void below_puts_the_parent_first_and_keeps_to_the_limit() {
    Ancestors two = Ancestors.of(List.of(plain(2), plain(1)), 1000);

    assertThat(two.below(plain(3), 1000).toList()).containsExactly(plain(3), plain(2), plain(1));
    assertThat(two.below(plain(3), 2).toList()).containsExactly(plain(3), plain(2));
    assertThat(two.below(plain(3), 1).toList()).containsExactly(plain(3));
    assertThat(two.below(plain(3), 0).toList()).isEmpty();
    assertThat(two.below(odd("o"), 2).toList()).containsExactly(odd("o"), plain(2));
    assertThat(Ancestors.NONE.below(plain(1), 1000).toList()).containsExactly(plain(1));
  }

  @Test
  void a_mixed_list_that_loses_its_odd_hashes_becomes_plain() {
    Ancestors mixed = Ancestors.of(List.of(plain(2), odd("1")), 1000);

    Ancestors stemmed = mixed.below(plain(3), 2);

    assertThat(encoded(stemmed)).hasSize(1 + 2 * 16);
    assertThat(reread(stemmed).toList()).containsExactly(plain(3), plain(2));
  }

  @Test
  void a_branch_knows_its_own_revisions_at_their_positions_only() {
    EditBranch branch =
        new EditBranch(
            new RevisionId(7, plain(7)),
            false,
            Ancestors.of(List.of(plain(6), plain(5)), 1000),
            BodySize.NONE,
            null);

    assertThat(branch.path())
        .containsExactly(
            new RevisionId(7, plain(7)), new RevisionId(6, plain(6)), new RevisionId(5, plain(5)));
    assertThat(branch.path()).allMatch(branch::contains);
    assertThat(branch.contains(new RevisionId(8, plain(7)))).isFalse();
    assertThat(branch.contains(new RevisionId(5, plain(6)))).isFalse();
    assertThat(branch.contains(new RevisionId(4, plain(5)))).isFalse();
    assertThat(branch.isAncestor(branch.leaf())).isFalse();
  }

  @Test
  void damaged_lists_are_told_from_short_ones() {
    assertThatThrownBy(() -> Ancestors.readFrom(new byte[] {0, 1, 2}, 0))
        .isInstanceOf(MalformedTupleException.class);
    assertThatThrownBy(() -> Ancestors.readFrom(new byte[] {1, 5, 2}, 0))
        .isInstanceOf(MalformedTupleException.class);
    assertThatThrownBy(() -> Ancestors.readFrom(new byte[] {2, 3, 1}, 0))
        .isInstanceOf(MalformedTupleException.class);
    assertThatThrownBy(() -> Ancestors.readFrom(new byte[] {3}, 0))
        .isInstanceOf(MalformedTupleException.class);
  }

  private static Ancestors reread(Ancestors ancestors) {
    byte[] behindTwoBytes = new TupleWriter(64).octet(9).octet(9).raw(encoded(ancestors)).toBytes();
    return Ancestors.readFrom(behindTwoBytes, 2);
  }

  private static byte[] encoded(Ancestors ancestors) {
    TupleWriter value = new TupleWriter(64);
    ancestors.writeTo(value);
    return value.toBytes();
  }

  private static RevisionHash plain(int seed) {
    byte[] bytes = new byte[16];
    Arrays.fill(bytes, (byte) seed);
    return RevisionHash.of(bytes);
  }

  private static RevisionHash odd(String text) {
    return new RevisionHash(text.getBytes(StandardCharsets.UTF_8));
  }

  @ParameterizedTest
  @CsvSource({
    // stored branches; arriving path; its kind; the branches afterwards, winner first
    "'',                    '1-a',             NEW,    '1-a'",
    "'',                    '3-c 2-b 1-a',     NEW,    '3-c 2-b 1-a'",
    "'1-a',                 '1-a',             KNOWN,  '1-a'",
    "'3-c 2-b 1-a',         '2-b 1-a',         KNOWN,  '3-c 2-b 1-a'",
    "'3-c 2-b 1-a',         '3-c',             KNOWN,  '3-c 2-b 1-a'",
    "'1-a',                 '2-b 1-a',         NEW,    '2-b 1-a'",
    "'2-b 1-a',             '4-d 3-c 2-b',     NEW,    '4-d 3-c 2-b 1-a'",
    "'2-b 1-a',             '2-x 1-a',         NEW,    '2-x 1-a, 2-b 1-a'",
    "'3-c 2-b 1-a',         '3-x 2-b',         NEW,    '3-x 2-b 1-a, 3-c 2-b 1-a'",
    "'1-a',                 '1-b',             NEW,    '1-b, 1-a'",
    "'1-a',                 '9-z',             NEW,    '9-z, 1-a'",
    "'2-b! 1-a',            '3-c 2-b 1-a',     NEW,    '3-c 2-b 1-a'",
    "'2-b 1-a',             '3-c! 2-b 1-a',    NEW,    '3-c! 2-b 1-a'",
    "'1-a',                 '2-b!',            NEW,    '1-a, 2-b!'",
    "'2-b, 2-a',            '3-c 2-a',         NEW,    '3-c 2-a, 2-b'",
    // a history that connects branches stored separately
    "'4-d, 2-b 1-a',        '4-d 3-c 2-b',     JOINED, '4-d 3-c 2-b 1-a'",
    "'5-e 4-d, 2-b',        '4-d 3-c 2-b 1-a', JOINED, '5-e 4-d 3-c 2-b 1-a'",
    "'3-c, 2-b 1-a',        '4-d 3-c 2-b',     NEW,    '4-d 3-c 2-b 1-a'",
    "'3-c',                 '3-c 2-b 1-a',     JOINED, '3-c 2-b 1-a'",
    "'4-d 3-c',             '3-c 2-b 1-a',     JOINED, '4-d 3-c 2-b 1-a'",
    "'4-d 3-c, 4-x 3-c',    '3-c 2-b',         JOINED, '4-x 3-c 2-b, 4-d 3-c 2-b'",
  })
  void arrival(String stored, String arriving, Arrival arrival, String afterwards) {
    BranchMerge merge = new BranchMerge(branches(stored), 1000);

    assertThat(merge.add(path(arriving), arriving.contains("!"), BodySize.NONE)).isEqualTo(arrival);
    assertThat(after(stored, merge.update())).isEqualTo(afterwards);
  }

  @Test
  void a_document_gets_so_many_leaves_at_most() {
    List<EditBranch> stored = new ArrayList<>();
    for (int i = 0; i < BranchMerge.MAX_LEAVES - 1; i++) {
      stored.add(leaf("1-" + Integer.toHexString(0x10000 + i), Ancestors.NONE));
    }
    BranchMerge merge = new BranchMerge(stored, 1000);
    RevisionPath last = path("1-eeee");
    assertThat(merge.lacksRoomFor(last)).isFalse();
    merge.add(last, false, BodySize.NONE);

    assertThat(merge.lacksRoomFor(path("1-ffff"))).isTrue();
    assertThat(merge.lacksRoomFor(path("2-ffff 1-aaaa"))).isTrue();
    assertThat(merge.lacksRoomFor(last)).as("it is known").isFalse();
    assertThat(merge.lacksRoomFor(path("2-ffff 1-eeee"))).as("it ends a leaf").isFalse();
  }

  @Test
  void nor_more_than_so_long_histories() {
    List<RevisionHash> hashes = path("9-f 8-e 7-d").ancestors();
    List<RevisionHash> history = new ArrayList<>();
    while (history.size() < 1_000) {
      history.addAll(hashes);
    }
    Ancestors longest = Ancestors.of(history, 1_000);
    int fitting = 9_999_999 / longest.sizeBytes();
    List<EditBranch> stored = new ArrayList<>();
    for (int i = 0; i < fitting; i++) {
      stored.add(leaf("2000-" + Integer.toHexString(0x10000 + i), longest));
    }
    RevisionPath other = path("1-eeee");
    assertThat(new BranchMerge(stored, 1001).lacksRoomFor(other)).isFalse();

    stored.add(leaf("2000-eeee", longest));
    assertThat(new BranchMerge(stored, 1001).lacksRoomFor(other)).isTrue();
  }

  private static EditBranch leaf(String revision, Ancestors ancestors) {
    return new EditBranch(path(revision).leaf(), false, ancestors, BodySize.NONE, null);
  }

  @Test
  void several_arrivals_make_one_update() {
    BranchMerge merge = new BranchMerge(branches("1-a"), 1000);
    merge.add(path("2-b 1-a"), false, BodySize.NONE);
    merge.add(path("3-c 2-b"), false, BodySize.NONE);
    merge.add(path("2-x 1-a"), false, BodySize.NONE);

    BranchUpdate update = merge.update().orElseThrow();

    assertThat(print(update.cleared())).isEqualTo("1-a");
    assertThat(print(update.written())).isEqualTo("3-c 2-b 1-a, 2-x 1-a");
    assertThat(update.winner().orElseThrow().winner().branchCount()).isEqualTo(2);
    assertThat(update.formerWinner().orElseThrow().leaf()).isEqualTo(RevisionId.of("1-a"));
  }

  @Test
  void arrivals_that_undo_each_other_change_nothing() {
    BranchMerge merge = new BranchMerge(branches("2-b 1-a"), 1000);
    merge.add(path("1-a"), false, BodySize.NONE);

    assertThat(merge.update()).isEmpty();
  }

  @Test
  void a_losing_arrival_rewrites_the_winner_for_its_count_and_sequence() {
    BranchMerge merge = new BranchMerge(branches("5-e"), 1000);
    merge.add(path("1-a"), false, BodySize.NONE);

    BranchUpdate update = merge.update().orElseThrow();

    assertThat(update.cleared()).isEmpty();
    assertThat(print(update.written())).isEqualTo("5-e, 1-a");
    assertThat(update.written().get(1).isWinner()).isFalse();
    assertThat(update.winner().orElseThrow().winner())
        .isEqualTo(new Winner(null, 2, OtherLeaves.of(update.written().subList(1, 2))));
  }

  @Test
  void a_demoted_winner_loses_its_sequence() {
    BranchMerge merge = new BranchMerge(branches("1-a"), 1000);
    merge.add(path("5-e"), false, BodySize.NONE);

    BranchUpdate update = merge.update().orElseThrow();

    assertThat(update.written())
        .filteredOn(branch -> branch.leaf().equals(RevisionId.of("1-a")))
        .singleElement()
        .matches(branch -> !branch.isWinner());
  }

  @ParameterizedTest
  @CsvSource({
    "1, '4-d 3-c 2-b 1-a', '4-d'",
    "2, '4-d 3-c 2-b 1-a', '4-d 3-c'",
    "3, '4-d 3-c 2-b 1-a', '4-d 3-c 2-b'",
    "4, '4-d 3-c 2-b 1-a', '4-d 3-c 2-b 1-a'",
  })
  void stemming(int revsLimit, String arriving, String afterwards) {
    BranchMerge merge = new BranchMerge(branches("3-c 2-b 1-a"), revsLimit);
    merge.add(path(arriving), false, BodySize.NONE);

    assertThat(after("3-c 2-b 1-a", merge.update())).isEqualTo(afterwards);
  }

  @ParameterizedTest
  @CsvSource({"3, KNOWN", "4, JOINED"})
  void history_that_would_be_stemmed_again_changes_nothing(int revsLimit, Arrival arrival) {
    BranchMerge merge = new BranchMerge(branches("4-d 3-c 2-b"), revsLimit);

    assertThat(merge.add(path("4-d 3-c 2-b 1-a"), false, BodySize.NONE)).isEqualTo(arrival);
    assertThat(merge.update().isPresent()).isEqualTo(arrival == Arrival.JOINED);
  }

  private static String after(String stored, Optional<BranchUpdate> update) {
    List<EditBranch> branches = new ArrayList<>(branches(stored));
    update.ifPresent(
        it -> {
          branches.removeIf(branch -> leaves(it.cleared()).contains(branch.leaf()));
          branches.removeIf(branch -> leaves(it.written()).contains(branch.leaf()));
          branches.addAll(it.written());
          assertThat(it.winner().orElseThrow().winner().branchCount()).isEqualTo(branches.size());
        });
    branches.sort(EditBranch.WINNER_FIRST);
    assertThat(branches.get(0).isWinner()).isTrue();
    return print(branches);
  }

  private static List<RevisionId> leaves(List<EditBranch> branches) {
    return branches.stream().map(EditBranch::leaf).toList();
  }

  private static String print(List<EditBranch> branches) {
    List<String> printed = new ArrayList<>();
    for (EditBranch branch : branches) {
      List<String> path = new ArrayList<>(branch.path().stream().map(Object::toString).toList());
      path.set(0, path.get(0) + (branch.deleted() ? "!" : ""));
      printed.add(String.join(" ", path));
    }
    return String.join(", ", printed);
  }

  private static List<EditBranch> branches(String text) {
    List<EditBranch> branches = new ArrayList<>();
    for (String path : text.isEmpty() ? new String[0] : text.split(", ")) {
      RevisionPath parsed = path(path);
      branches.add(
          new EditBranch(
              parsed.leaf(),
              path.contains("!"),
              Ancestors.of(parsed.ancestors(), 4000),
              BodySize.NONE,
              null));
    }
    branches.sort(EditBranch.WINNER_FIRST);
    if (!branches.isEmpty()) {
      branches.set(0, branches.get(0).winning(branches.size(), Optional.empty()));
    }
    return branches;
  }

  private static RevisionPath path(String text) {
    List<RevisionId> revisions =
        Arrays.stream(text.replace("!", "").split(" ")).map(RevisionId::of).toList();
    return new RevisionPath(
        revisions.get(0), revisions.stream().skip(1).map(RevisionId::hash).toList());
  }
}
