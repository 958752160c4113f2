package lectus.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import lectus.replication.SentDocument.RawElements;
import lectus.replication.SentDocument.RawJson;
import lectus.replication.SentDocument.TooLongDocument;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Documents in an answer that comes part by part. */
final class SentDocumentTest {
  private static final String[] VALUES = {
    "1",
    "-1.5e3",
    "true",
    "null",
    "\"\"",
    "\"a\\\"b\"",
    "\"\\\\\"",
    "\"}],{\"",
    "[]",
    "{}",
    "{\"a\":[1,{\"b\":\"]\"}],\"c\":\"\\\\\\\"\"}",
    "\"\u00e9\ud83d\ude00\""
  };

  /** Hands out a few bytes at a time. */
  private static InputStream slowly(String text, Random random) {
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)) {
      @Override
      public synchronized int read(byte[] into, int from, int length) {
        return super.read(into, from, Math.min(length, 1 + random.nextInt(5)));
      }
    };
  }

  private static List<String> read(RawElements elements) throws IOException {
    List<String> all = new ArrayList<>();
    for (Optional<byte[]> each = elements.next(); each.isPresent(); each = elements.next()) {
      all.add(new String(each.get(), StandardCharsets.UTF_8));
    }
    return all;
  }

  @Test
  void elements_come_as_they_were_sent_however_the_answer_is_cut() throws IOException {
    for (int seed = 0; seed < 300; seed++) {
      Random random = new Random(seed);
      List<String> sent = new ArrayList<>();
      for (int i = random.nextInt(6); i > 0; i--) {
        String value = VALUES[random.nextInt(VALUES.length)];
        sent.add(
            random.nextInt(10) == 0
                ? "{\"long\":\"" + "x".repeat(60_000) + "\",\"v\":" + value + "}"
                : value);
      }
      String blank = random.nextBoolean() ? "\r\n " : "";
      String text =
          "{ \"results\":" + blank + "[" + blank + String.join(blank + "," + blank, sent) + "]}\n";

      RawElements elements =
          new RawElements(
              random.nextInt(4) == 0
                  ? new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8))
                  : slowly(text, random),
              Optional.of("results"),
              70_000,
              bytes -> {});

      assertThat(read(elements)).as("seed %d", seed).isEqualTo(sent);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "{", "[1,2", "[\"a", "[\"a\\", "[{\"a\":1}", "{\"results\":[1"})
  void an_answer_that_is_cut_off_is_no_answer(String text) {
    assertThatThrownBy(
            () ->
                read(
                    new RawElements(
                        slowly(text, new Random(1)), Optional.empty(), 1_000, bytes -> {})))
        .isInstanceOf(IOException.class);
  }

  @Test
  void an_element_may_be_as_long_as_the_limit() throws IOException {
    String fits = '"' + "x".repeat(99_998) + '"';
    List<Integer> asked = new ArrayList<>();
    assertThat(
            read(
                new RawElements(
                    slowly("[" + fits + "]", new Random(1)),
                    Optional.empty(),
                    100_000,
                    asked::add)))
        .containsExactly(fits);
    assertThat(asked).last().isEqualTo(100_001);

    assertThatThrownBy(
            () ->
                read(
                    new RawElements(
                        slowly("[" + fits + "]", new Random(1)),
                        Optional.empty(),
                        99_999,
                        bytes -> {})))
        .isInstanceOf(TooLongDocument.class);
  }

  @Test
  void of_a_document_its_id_and_attachments_are_known() throws IOException {
    String json =
        "{\"x\":{\"_id\":\"no\"},\"_id\":\"a\\u00e9\\\"\",\"_attachments\":{\"f\":{\"stub\":true}},\"y\":[1]}";
    RawJson walk = new RawJson((" " + json + ",{}").getBytes(StandardCharsets.UTF_8));

    SentDocument document = SentDocument.of(walk);

    assertThat(new String(document.json(), StandardCharsets.UTF_8)).isEqualTo(json);
    assertThat(document.id()).isEqualTo("a\u00e9\"");
    assertThat(document.hasStubs()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"{}", "{\"_id\":1}", "[]", "{\"_id\"", "{\"_id\":\"a\",\"b\":1", "{1:2}"})
  void what_is_no_document_is_refused(String json) {
    assertThatThrownBy(() -> SentDocument.of(new RawJson(json.getBytes(StandardCharsets.UTF_8))))
        .isInstanceOf(IOException.class);
  }
}
