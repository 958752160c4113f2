package lectus.revision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import lectus.tuple.MalformedTupleException;
import lectus.tuple.TupleWriter;
import org.junit.jupiter.api.Test;

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
    assertThat(reread.hash(2)).isEqualTo(hashes.get(2));
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
}
