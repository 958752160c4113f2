package lectus.http.message;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** What stands in headers, whose bytes Netty has as characters of ISO 8859-1. */
public final class HeaderText {
  private HeaderText() {}

  /** Returns what was sent: UTF-8 if the bytes are that, else ISO 8859-1. */
  public static String received(String latin1) {
    try {
      ByteBuffer bytes = ByteBuffer.wrap(latin1.getBytes(StandardCharsets.ISO_8859_1));
      return StandardCharsets.UTF_8.newDecoder().decode(bytes).toString();
    } catch (CharacterCodingException none) {
      return latin1;
    }
  }

  /** Returns what may be sent of a text as UTF-8: a control character would end the header. */
  public static String sendable(String text) {
    byte[] utf8 = text.replaceAll("\\p{Cntrl}", " ").strip().getBytes(StandardCharsets.UTF_8);
    return new String(utf8, StandardCharsets.ISO_8859_1);
  }
}
