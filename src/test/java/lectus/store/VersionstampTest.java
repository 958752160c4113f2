package lectus.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class VersionstampTest {
  @Test
  void printed_and_parsed_it_is_the_same() {
    Versionstamp stamp = stamp("000000000001ff00000a0102");
    assertThat(stamp).hasToString("000000000001ff00000a0102");
    assertThat(Versionstamp.parse(stamp.toString())).contains(stamp);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "0", "now", "000000000001ff00000a01", "000000000001FF00000a0102", "xyz"})
  void anything_else_is_no_versionstamp(String text) {
    assertThat(Versionstamp.parse(text)).isEmpty();
  }

  @Test
  void they_sort_as_unsigned_bytes() {
    List<Versionstamp> ordered =
        List.of(
            Versionstamp.ZERO,
            stamp("000000000000000000000001"),
            stamp("7f0000000000000000000000"),
            stamp("800000000000000000000000"),
            Versionstamp.END);
    assertThat(ordered).isSorted();
  }

  @Test
  void what_a_read_version_sees_lies_before_its_point() {
    Versionstamp point = Versionstamp.upTo(0x0102);
    assertThat(point).hasToString("0000000000000102ffffffff");
    assertThat(stamp("0000000000000102fffe0000")).isLessThan(point);
    assertThat(stamp("000000000000010300000000")).isGreaterThan(point);
  }

  @Test
  void neighbours_have_nothing_in_between() {
    Versionstamp carried = stamp("0000000000000101ffffffff");
    assertThat(carried.successor()).isEqualTo(stamp("000000000000010200000000"));
    assertThat(carried.successor().predecessor()).isEqualTo(carried);
    assertThatThrownBy(Versionstamp.ZERO::predecessor).isInstanceOf(IllegalArgumentException.class);
    assertThat(Versionstamp.END.successor()).isEqualTo(Versionstamp.END);
  }

  @Test
  void a_commit_begins_and_ends_with_the_numbers_of_what_it_wrote() {
    assertThat(stamp("0000000000000101aaaa0007").startOfCommit())
        .isEqualTo(stamp("0000000000000101aaaa0000"));
    assertThat(stamp("0000000000000101aaaa0007").endOfCommit())
        .isEqualTo(stamp("0000000000000101aaaaffff"));
  }

  private static Versionstamp stamp(String hex) {
    return new Versionstamp(HexFormat.of().parseHex(hex));
  }
}
