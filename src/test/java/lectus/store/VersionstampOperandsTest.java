package lectus.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import lectus.tuple.TupleWriter;
import org.junit.jupiter.api.Test;

class VersionstampOperandsTest {
  private static final byte F = (byte) 0xff;

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
