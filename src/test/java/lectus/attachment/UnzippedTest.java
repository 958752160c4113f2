package lectus.attachment;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import lectus.attachment.GzipReader.Unzipped;
import lectus.error.LectusException;
import org.junit.jupiter.api.Test;

final class UnzippedTest {
  private static final byte[] HEAD = HexFormat.of().parseHex("1f8b0800000000000003");
  private static final byte[] NO_BLOCK = {(byte) 0xff};

  private final GzipReader reader = new GzipReader();

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
