package lectus.store.embedded.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.FDBException;
import lectus.store.embedded.engine.CommitRequest.KeyRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class CommitStampTest {
  private static final byte[] FF = {(byte) 0xFF};

  /** Returns a template with {@code length} bytes before the offset. */
  private static byte[] template(int length, int offset) {
    byte[] template = new byte[length + 4];
    for (int i = 0; i < 4; i++) {
      template[length + i] = (byte) (offset >>> (8 * i));
    }
    return template;
  }

  @ParameterizedTest
  @CsvSource({"10, 0", "12, 2", "300, 290", "300, 256"})
  void room_for_the_stamp_is_found(int length, int offset) {
    assertThat(CommitStamp.offset(template(length, offset))).isEqualTo(offset);
  }

  @ParameterizedTest
  @CsvSource({"10, 1", "9, 0", "10, -1", "300, 291", "0, 0"})
  void no_room_is_client_invalid_operation(int length, int offset) {
    byte[] template = template(length, offset);

    assertInvalid(template);
  }

  @Test
  void three_bytes_hold_no_offset() {
    assertInvalid(new byte[3]);
  }

  private static void assertInvalid(byte[] template) {
    assertThatThrownBy(() -> CommitStamp.offset(template))
        .isInstanceOfSatisfying(
            FDBException.class, error -> assertThat(error.getCode()).isEqualTo(2000));
  }

  @Test
  void the_key_may_come_to_lie_from_the_lowest_stamp_to_behind_the_highest() {
    byte[] template = template(12, 1);
    template[0] = 'p';
    template[11] = 's';

    KeyRange place = CommitStamp.place(template, 0x0102, FF);

    assertThat(place.begin()).containsExactly('p', 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 's');
    assertThat(place.end()).containsExactly('p', -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 's', 0);
  }

  @Test
  void the_place_ends_with_the_key_space() {
    byte[] template = template(10, 0);

    assertThat(CommitStamp.place(template, 0, FF).end()).isEqualTo(FF);
  }

  @Test
  void the_lowest_stamp_keeps_the_offset_bytes() {
    byte[] filled = CommitStamp.withLowestStamp(template(10, 0), 7);

    assertThat(filled).containsExactly(0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0);
  }
}
