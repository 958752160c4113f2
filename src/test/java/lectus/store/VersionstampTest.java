package lectus.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HexFormat;
import java.util.List;
import lectus.json.TupleWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class VersionstampTest {
  private static final byte F = (byte) 0xff;

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

  @Test
  void a_placeholder_ends_in_its_user_version() {
    assertThat(Versionstamp.placeholder(0)).containsExactly(F, F, F, F, F, F, F, F, F, F, 0, 0);
    assertThat(Versionstamp.placeholder(0x1234)).endsWith(0x12, 0x34).hasSize(12);
    assertThat(Versionstamp.placeholder(65_535)).endsWith(F, F);
    assertThatThrownBy(() -> Versionstamp.placeholder(-1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Versionstamp.placeholder(65_536))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void complete_joins_both_parts() {
    byte[] ten = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    assertThat(Versionstamp.complete(ten, 0x0102))
        .containsExactly(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 2);
    assertThatThrownBy(() -> Versionstamp.complete(new byte[9], 0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Versionstamp.complete(new byte[11], 0))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void a_template_ends_in_its_offset_little_endian() {
    byte[] bytes = new byte[0x0102 + 12];
    assertThat(Versionstamp.template(bytes, 0x0102))
        .hasSize(bytes.length + 4)
        .endsWith(0x02, 0x01, 0, 0);
    assertThat(Versionstamp.template(new byte[12], 0)).hasSize(16).endsWith(0, 0, 0, 0);
  }

  @Test
  void a_template_has_room_for_its_placeholder() {
    assertThat(Versionstamp.template(new byte[13], 1)).hasSize(17);
    assertThatThrownBy(() -> Versionstamp.template(new byte[13], 2))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Versionstamp.template(new byte[13], -1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void a_template_of_a_tuple_ends_with_the_versionstamp() {
    byte[] stamp = Versionstamp.placeholder(7);
    byte[] tuple = new TupleWriter(32).string("k").versionstamp(stamp).toBytes();
    assertThat(Versionstamp.template(new TupleWriter(32).string("k"), 7))
        .isEqualTo(Versionstamp.template(tuple, tuple.length - Versionstamp.LENGTH));
  }

  @Test
  void a_template_may_begin_with_bytes() {
    assertThat(Versionstamp.templateBehind((byte) 1, (byte) 2))
        .containsExactly(1, 2, F, F, F, F, F, F, F, F, F, F, 0, 0, 2, 0, 0, 0);
  }
}
