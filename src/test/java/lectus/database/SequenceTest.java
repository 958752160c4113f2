package lectus.database;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SequenceTest {

  @Test
  void prints_the_incarnation_and_the_versionstamp_in_hex() {
    byte[] commit = {0, 0, 0, 0, 0x01, 0x23, 0x45, 0x67, 0, 2};
    assertThat(Sequence.of(0, commit, 258))
        .hasToString("14" + "0000000001234567" + "0002" + "0102");
    assertThat(Sequence.of(1, commit, 0))
        .hasToString("1501" + "0000000001234567" + "0002" + "0000");
  }

  @Test
  void printed_sequences_sort_like_sequences() {
    Random random = new Random(5984);
    List<Sequence> sequences = new ArrayList<>();
    for (int i = 0; i < 2_000; i++) {
      byte[] commit = new byte[10];
      random.nextBytes(commit);
      int incarnation = random.nextInt(1 << random.nextInt(1, 20));
      sequences.add(Sequence.of(incarnation, commit, random.nextInt(65_536)));
    }
    Stream<String> sorted = sequences.stream().sorted().map(Sequence::toString);
    assertThat(sorted.toList())
        .isEqualTo(sequences.stream().map(Sequence::toString).sorted().toList());
  }

  @Test
  void nothing_lies_between_a_sequence_and_its_predecessor() {
    byte[] commit = {0, 0, 0, 0, 0, 0, 1, 0, 0, 0};
    assertThat(Sequence.of(3, commit, 7).predecessor()).isEqualTo(Sequence.of(3, commit, 6));
    byte[] before = {0, 0, 0, 0, 0, 0, 0, -1, -1, -1};
    assertThat(Sequence.of(3, commit, 0).predecessor()).isEqualTo(Sequence.of(3, before, 65_535));
  }

  @Test
  void nothing_lies_between_a_sequence_and_the_next() {
    byte[] commit = {0, 0, 0, 0, 0, 0, 1, 0, 0, 0};
    assertThat(Sequence.of(3, commit, 7).next()).isEqualTo(Sequence.of(3, commit, 8));
    byte[] before = {0, 0, 0, 0, 0, 0, 0, -1, -1, -1};
    assertThat(Sequence.of(3, before, 65_535).next()).isEqualTo(Sequence.of(3, commit, 0));
    byte[] last = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    assertThat(Sequence.of(3, last, 65_535).next()).isEqualTo(Sequence.of(4, new byte[10], 0));
    Sequence highest = Sequence.of(Integer.MAX_VALUE, last, 65_535);
    assertThat(highest.next()).isEqualTo(highest);
  }

  @Test
  void parses_what_it_prints() {
    Sequence sequence = Sequence.of(300, new byte[] {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, 77);
    assertThat(Sequence.parse(sequence.toString())).contains(sequence);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "0",
        "now",
        "5",
        "14",
        "zz0000000001234567000201020000",
        "14000000000123456700020102ff",
        "140000000001234567000201",
        "1500000000000123456700020102",
        "14000000000123456700020 02",
        "0200000000000123456700020102"
      })
  void anything_else_is_no_sequence(String text) {
    assertThat(Sequence.parse(text)).isEmpty();
  }

  @Test
  void upper_case_is_no_sequence() {
    String printed =
        Sequence.of(0, new byte[] {0, 0, 0, 0, 0, 0, 0, (byte) 0xab, 0, 0}, 0).toString();
    assertThat(Sequence.parse(printed)).isPresent();
    assertThat(Sequence.parse(printed.replace("ab", "AB"))).isEmpty();
  }
}
