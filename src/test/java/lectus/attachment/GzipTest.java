package lectus.attachment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.GZIPInputStream;
import lectus.attachment.GzipReader.Unzipped;
import lectus.error.LectusException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is written is read, in whatever parts it comes; what is none is not. */
final class GzipTest {
  private static final byte[] TEXT = "hallo, Welt ".repeat(20).getBytes(StandardCharsets.UTF_8);

  private static final byte[] HEAD = HexFormat.of().parseHex("1f8b0800000000000003");

  private static final byte[] NO_BLOCK = {(byte) 0xff};

  private final GzipReader reader = new GzipReader();

  private static byte[] written(int level, byte[] bytes, int atOnce) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GzipWriter writer =
        new GzipWriter(level, (piece, from, to) -> out.write(piece, from, to - from))) {
      for (int at = 0; at < bytes.length; at += atOnce) {
        writer.write(bytes, at, Math.min(bytes.length, at + atOnce));
      }
      writer.finish();
    }
    return out.toByteArray();
  }

  /** Returns what is read of bytes that come in parts; fails unless they are whole members. */
  private static byte[] read(byte[] bytes, int atOnce) throws DataFormatException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GzipReader reader = new GzipReader()) {
      byte[] piece = new byte[7];
      for (int at = 0; at < bytes.length; at += atOnce) {
        reader.take(bytes, at, Math.min(bytes.length, at + atOnce));
        for (int read = reader.read(piece, 0); read > 0; read = reader.read(piece, 0)) {
          out.write(piece, 0, read);
        }
      }
      if (!reader.isWhole()) {
        throw new DataFormatException("not whole");
      }
    }
    return out.toByteArray();
  }

  /** A head with an extra field, a name, a comment and its own sum. */
  private static byte[] withEveryField(byte[] gzip) {
    byte[] head =
        HexFormat.of().parseHex("1f8b081e000000000003" + "0300" + "616263" + "6e00" + "6b6b00");
    CRC32 sum = new CRC32();
    sum.update(head);
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(head);
    all.write((int) sum.getValue());
    all.write((int) (sum.getValue() >> Byte.SIZE));
    all.writeBytes(Arrays.copyOfRange(gzip, 10, gzip.length));
    return all.toByteArray();
  }

  private static byte[] joined(byte[]... parts) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    Arrays.stream(parts).forEach(all::writeBytes);
    return all.toByteArray();
  }

  @ParameterizedTest
  @CsvSource({"0,1,1", "1,1,1", "100000,9,100000", "100000,8,1000", "300000,1,65536"})
  void what_is_written_is_read(int length, int level, int atOnce) throws Exception {
    byte[] bytes = new byte[length];
    new Random(length).ints(length, 'a', 'f').forEach(new IntSink(bytes)::add);
    byte[] written = written(level, bytes, atOnce);

    assertThat(new GZIPInputStream(new ByteArrayInputStream(written)).readAllBytes())
        .isEqualTo(bytes);
    assertThat(read(written, atOnce)).isEqualTo(bytes);
  }

  private static final class IntSink {
    private final byte[] bytes;
    private int at;

    IntSink(byte[] bytes) {
      this.bytes = bytes;
    }

    void add(int octet) {
      bytes[at++] = (byte) octet;
    }
  }

  @Test
  void what_was_written_through_can_be_read_at_once() throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GzipWriter writer =
            new GzipWriter(6, (piece, from, to) -> out.write(piece, from, to - from));
        GzipReader reader = new GzipReader()) {
      writer.writeThrough(TEXT, 0, TEXT.length);
      byte[] begun = out.toByteArray();
      reader.take(begun, 0, begun.length);
      byte[] read = new byte[TEXT.length];
      assertThat(reader.read(read, 0)).isEqualTo(TEXT.length);
      assertThat(read).isEqualTo(TEXT);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 10, 1_000})
  void members_follow_each_other_and_heads_have_fields(int atOnce) throws Exception {
    byte[] one = written(6, TEXT, 100);
    byte[] all = joined(one, withEveryField(one), written(6, new byte[0], 1), one);
    assertThat(read(all, atOnce)).isEqualTo(joined(TEXT, TEXT, TEXT));
  }

  @Test
  void no_part_of_it_is_whole() {
    byte[] all = withEveryField(written(6, TEXT, 100));
    for (int length = 0; length < all.length; length++) {
      byte[] part = Arrays.copyOf(all, length);
      assertThatThrownBy(() -> read(part, 16)).isInstanceOf(DataFormatException.class);
    }
  }

  /** The bits between the end of the last block and the next byte mean nothing. */
  @Test
  void a_changed_bit_is_found() {
    byte[] all = withEveryField(written(6, TEXT, 100));
    int unfound = 0;
    for (int bit = 0; bit < Byte.SIZE * all.length; bit++) {
      byte[] changed = all.clone();
      changed[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
      try {
        assertThat(read(changed, 16)).isEqualTo(TEXT);
        assertThat(bit / Byte.SIZE).isEqualTo(all.length - Long.BYTES - 1);
        unfound++;
      } catch (DataFormatException found) {
        continue;
      }
    }
    assertThat(unfound).isLessThan(Byte.SIZE);
  }

  @Test
  void what_follows_the_last_member_is_not_whole_but_readable() throws IOException {
    byte[] one = written(6, TEXT, 100);
    for (String behind : new String[] {"00", "1f00", "616263"}) {
      byte[] all = joined(one, HexFormat.of().parseHex(behind));
      assertThatThrownBy(() -> read(all, 16)).hasMessage("not whole");
      assertThat(new GZIPInputStream(new ByteArrayInputStream(all)).readAllBytes()).isEqualTo(TEXT);
    }
  }

  private void assertIsClosed() {
    assertThatThrownBy(() -> reader.read(new byte[1], 0)).hasMessageContaining("closed");
  }

  @Test
  void memory_beside_the_heap_is_free_when_it_is_no_gzip() {
    Iterator<byte[]> pieces = List.of(HEAD, NO_BLOCK).iterator();
    Unzipped unzipped = new Unzipped(pieces::next, reader);

    assertThatThrownBy(unzipped::next).isInstanceOf(LectusException.class);
    assertIsClosed();
  }

  @Test
  void memory_beside_the_heap_is_free_when_the_bytes_could_not_be_read() {
    Iterator<byte[]> pieces = List.of(HEAD).iterator();
    Unzipped unzipped = new Unzipped(pieces::next, reader);

    assertThatThrownBy(unzipped::next).isInstanceOf(RuntimeException.class);
    assertIsClosed();
  }
}
