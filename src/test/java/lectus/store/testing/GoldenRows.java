package lectus.store.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The committed table of one encoder's bytes: {@code src/test/resources/golden/<class>.txt}. A test
 * compares it with the encoder's output and has the decoder read it. A stored encoding never
 * changes, so neither does a row of a table.
 *
 * <p>Each row of a table has a title, its key and its value in hex digits. Three notations stand
 * for bytes:
 *
 * <pre>
 * prefix       the prefix of all keys of the test's subspace
 * stamp        the transaction's ten bytes
 * 61*99995     that many bytes 61
 * </pre>
 */
public final class GoldenRows {
  private static final String PREFIX = "prefix";
  private static final String STAMP = "stamp";

  /** The least number of equal bytes that are shown as a count. */
  private static final int MIN_RUN = 24;

  private final Map<String, String> keys = new LinkedHashMap<>();
  private final Map<String, String> values = new LinkedHashMap<>();
  private final byte[] prefix;
  private final byte[] stamp;

  private GoldenRows(String name, byte[] prefix, byte[] stamp) {
    this.prefix = prefix;
    this.stamp = stamp;
    String title = "";
    for (String line : lines(name)) {
      String[] words = line.strip().split(" ", 2);
      if (line.isBlank() || line.startsWith("#")) {
        continue;
      } else if (!line.startsWith(" ")) {
        title = line;
      } else {
        (words[0].equals("key") ? keys : values).put(title, words.length > 1 ? words[1] : "");
      }
    }
  }

  /** Returns a table whose bytes are the same in every run. */
  public static GoldenRows of(String name) {
    return new GoldenRows(name, new byte[0], new byte[0]);
  }

  public static GoldenRows of(String name, byte[] prefix, byte[] stamp) {
    return new GoldenRows(name, prefix, stamp);
  }

  /** Checks that the table has exactly these rows. */
  public void assertAre(Collection<KeyValue> rows) {
    assertThat(rows.stream().map(row -> shown(row.getKey()) + " = " + shown(row.getValue())))
        .containsExactlyInAnyOrderElementsOf(
            values.keySet().stream()
                .map(title -> shown(row(title).getKey()) + " = " + shown(row(title).getValue()))
                .toList());
  }

  /** Returns the bytes of the row with this title. */
  public KeyValue row(String title) {
    assertThat(values).containsKey(title);
    return new KeyValue(bytes(keys.getOrDefault(title, "")), bytes(values.get(title)));
  }

  public byte[] key(String title) {
    return row(title).getKey();
  }

  public byte[] value(String title) {
    return row(title).getValue();
  }

  private byte[] bytes(String notation) {
    StringBuilder hex = new StringBuilder();
    for (String word : notation.strip().split("\\s+")) {
      int times = word.indexOf('*');
      if (word.equals(PREFIX)) {
        hex.append(HexFormat.of().formatHex(prefix));
      } else if (word.equals(STAMP)) {
        hex.append(HexFormat.of().formatHex(stamp));
      } else if (times > 0) {
        int count = Integer.parseInt(word.substring(times + 1));
        hex.append(word.substring(0, times).repeat(count));
      } else {
        hex.append(word);
      }
    }
    return HexFormat.of().parseHex(hex);
  }

  /** Returns bytes in the table's notation, so that a failure shows the expected row. */
  private String shown(byte[] bytes) {
    StringBuilder shown = new StringBuilder();
    int at = 0;
    if (prefix.length > 0 && startsWith(bytes, 0, prefix)) {
      shown.append(PREFIX).append(' ');
      at = prefix.length;
    }
    while (at < bytes.length) {
      int run = run(bytes, at);
      if (stamp.length > 0 && startsWith(bytes, at, stamp)) {
        shown.append(' ').append(STAMP).append(' ');
        at += stamp.length;
      } else if (run >= MIN_RUN) {
        shown.append(' ').append("%02x*%d ".formatted(bytes[at], run));
        at += run;
      } else {
        shown.append("%02x".formatted(bytes[at++]));
      }
    }
    return shown.toString().strip().replaceAll(" +", " ");
  }

  private static int run(byte[] bytes, int from) {
    int to = from;
    while (to < bytes.length && bytes[to] == bytes[from]) {
      to++;
    }
    return to - from;
  }

  private static boolean startsWith(byte[] bytes, int at, byte[] head) {
    int end = at + head.length;
    return end <= bytes.length && Arrays.equals(bytes, at, end, head, 0, head.length);
  }

  private static List<String> lines(String name) {
    try (InputStream table = GoldenRows.class.getResourceAsStream("/golden/" + name + ".txt")) {
      assertThat(table).as("src/test/resources/golden/" + name + ".txt").isNotNull();
      return new String(table.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
