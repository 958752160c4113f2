package lectus.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import lectus.tuple.TupleWriter;
import org.junit.jupiter.api.Test;

class VersionstampsTest {
  private static final byte F = (byte) 0xff;

  @Test
  void aPlaceholderEndsInItsUserVersion() {
    assertThat(Versionstamps.placeholder(0)).containsExactly(F, F, F, F, F, F, F, F, F, F, 0, 0);
    assertThat(Versionstamps.placeholder(0x1234)).endsWith(0x12, 0x34).hasSize(12);
    assertThat(Versionstamps.placeholder(65_535)).endsWith(F, F);
    assertThatThrownBy(() -> Versionstamps.placeholder(-1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Versionstamps.placeholder(65_536))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void completeJoinsBothParts() {
    byte[] ten = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    assertThat(Versionstamps.complete(ten, 0x0102))
        .containsExactly(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 2);
    assertThatThrownBy(() -> Versionstamps.complete(new byte[9], 0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Versionstamps.complete(new byte[11], 0))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aTemplateEndsInItsOffset_littleEndian() {
    byte[] bytes = new byte[0x0102 + 12];
    assertThat(Versionstamps.template(bytes, 0x0102))
        .hasSize(bytes.length + 4)
        .endsWith(0x02, 0x01, 0, 0);
    assertThat(Versionstamps.template(new byte[12], 0)).hasSize(16).endsWith(0, 0, 0, 0);
  }

  @Test
  void aTemplateHasRoomForItsPlaceholder() {
    assertThat(Versionstamps.template(new byte[13], 1)).hasSize(17);
    assertThatThrownBy(() -> Versionstamps.template(new byte[13], 2))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Versionstamps.template(new byte[13], -1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void a_template_of_a_tuple_ends_with_the_versionstamp() {
    byte[] stamp = Versionstamps.placeholder(7);
    byte[] tuple = new TupleWriter(32).string("k").versionstamp(stamp).toBytes();
    assertThat(Versionstamps.template(new TupleWriter(32).string("k"), 7))
        .isEqualTo(Versionstamps.template(tuple, tuple.length - Versionstamps.LENGTH));
  }

  @Test
  void a_template_may_begin_with_bytes() {
    assertThat(Versionstamps.templateBehind((byte) 1, (byte) 2))
        .containsExactly(1, 2, F, F, F, F, F, F, F, F, F, F, 0, 0, 2, 0, 0, 0);
  }
}
