package lectus.tuple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import lectus.tuple.MalformedTupleException.NewerFormatException;
import org.junit.jupiter.api.Test;

final class StoredFormatTest {
  private final StoredFormat format = new StoredFormat(2, "A row");

  private static byte[] tuple(int number) {
    return new TupleWriter(8).integer(number).string("rest").toBytes();
  }

  @Test
  void the_known_format_is_read() {
    assertThat(format.reader(tuple(2)).string()).isEqualTo("rest");
    format.checkFirstByte(new byte[] {2, 7});
  }

  @Test
  void a_newer_format_is_no_damage() {
    String sentence =
        "A row was written by a newer version of Lectus: it has format 3, this version reads up to"
            + " 2";
    assertThatThrownBy(() -> format.reader(tuple(3)))
        .isInstanceOf(NewerFormatException.class)
        .hasMessage(sentence);
    assertThatThrownBy(() -> format.checkFirstByte(new byte[] {3}))
        .isInstanceOf(NewerFormatException.class)
        .hasMessage(sentence);
  }

  @Test
  void damage_is_no_newer_format() {
    assertThatThrownBy(() -> format.reader(tuple(1)))
        .isExactlyInstanceOf(MalformedTupleException.class)
        .hasMessage("A row is damaged: it has format 1");
    assertThatThrownBy(() -> format.reader(new byte[0]))
        .isExactlyInstanceOf(MalformedTupleException.class);
    assertThatThrownBy(() -> format.reader(new byte[] {0x1c}))
        .isExactlyInstanceOf(MalformedTupleException.class);
    assertThatThrownBy(() -> format.reader(new byte[] {2, 'x'}))
        .isExactlyInstanceOf(MalformedTupleException.class);
    assertThatThrownBy(() -> format.checkFirstByte(new byte[0]))
        .isExactlyInstanceOf(MalformedTupleException.class)
        .hasMessage("A row is damaged: it is empty");
    assertThatThrownBy(() -> format.checkFirstByte(new byte[] {1}))
        .isExactlyInstanceOf(MalformedTupleException.class);
  }
}
