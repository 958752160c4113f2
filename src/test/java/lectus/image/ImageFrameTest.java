package lectus.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.KeyValue;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;
import lectus.attachment.Attachment;
import lectus.attachment.AttachmentList;
import lectus.attachment.ContentId;
import lectus.attachment.Digests;
import lectus.attachment.Md5;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.error.LectusException;
import lectus.image.ImageFrame.Abandoned;
import lectus.image.ImageFrame.Body;
import lectus.image.ImageFrame.Chunk;
import lectus.image.ImageFrame.Content;
import lectus.image.ImageFrame.Departures;
import lectus.image.ImageFrame.Document;
import lectus.image.ImageFrame.DocumentLeaf;
import lectus.image.ImageFrame.Gone;
import lectus.image.ImageFrame.Header;
import lectus.image.ImageFrame.Local;
import lectus.image.ImageFrame.Purges;
import lectus.image.ImageFrame.Reached;
import lectus.image.ImageFrame.Settings;
import lectus.image.ImageFrame.Type;
import lectus.json.JsonBuffer;
import lectus.json.MalformedTupleException;
import lectus.json.TupleWriter;
import lectus.revision.RevisionHash;
import lectus.revision.RevisionId;
import lectus.store.testing.GoldenRows;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ImageFrameTest {
  private static final byte[] CONTENT = {1, 0, 2};
  private static final ContentId ID = ContentId.of(Digests.sha256().digest(CONTENT));
  private static final Md5 MD5 = Md5.of(Digests.md5().digest(CONTENT));
  private static final Sequence FIRST =
      Sequence.of(0, new byte[] {0, 0, 0, 0, 0, 0, 1, 0, 0, 0}, 1);
  private static final Sequence LAST = Sequence.of(0, new byte[] {0, 0, 0, 0, 0, 0, 2, 0, 0, 0}, 3);
  private static final RevisionId REVISION = new RevisionId(2, RevisionHash.of(new byte[16]));

  private static Header header(Optional<Sequence> since) {
    return new Header("a/b", new InstanceId("0123456789abcdef".repeat(2)), 0, 1, 2, since);
  }

  private static final List<KeyValue> ROWS =
      List.of(new KeyValue(new byte[] {0x15, 1}, new byte[] {0x15, 0}));

  /** One of each type, in an order in which they may follow each other. */
  private static Map<String, ImageFrame> frames() {
    Map<String, ImageFrame> frames = new LinkedHashMap<>();
    frames.put("header", header(Optional.empty()));
    frames.put("settings", new Settings(ROWS));
    frames.put("document", new Document("d\u00e9", FIRST, 2, true));
    Attachment attachment = new Attachment("n", "text/plain", ID, MD5, 3, 3, false, 2);
    frames.put(
        "leaf",
        new DocumentLeaf(
            REVISION,
            false,
            List.of(RevisionHash.of(HASH)),
            new AttachmentList(List.of(attachment)),
            Body.ofText("\"a\":1".getBytes(StandardCharsets.UTF_8))));
    frames.put(
        "tombstone",
        new DocumentLeaf(
            new RevisionId(1, RevisionHash.parse("x", 1).orElseThrow()),
            true,
            List.of(),
            AttachmentList.NONE,
            Body.NONE));
    frames.put("departures", new Departures(ROWS));
    frames.put("content", new Content(ID, MD5, 3, Optional.empty()));
    frames.put("chunk", new Chunk(CONTENT));
    frames.put("compressed content", new Content(ID, MD5, 3, Optional.of(10L)));
    frames.put("abandoned", new Abandoned());
    frames.put("gone", new Gone("d", LAST));
    frames.put(
        "local", new Local("_local/a", OptionalLong.of(7), Body.ofLeaves(new byte[] {0x15, 7})));
    frames.put("deleted local", new Local("_local/b", OptionalLong.empty(), Body.NONE));
    frames.put("purges", new Purges(ROWS));
    frames.put("reached", new Reached(new byte[] {1, 2}));
    return frames;
  }

  private static final byte[] HASH = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

  private static byte[] written(
      Iterable<ImageFrame> frames, Optional<Sequence> since, Sequence to) {
    ImageWriter writer = new ImageWriter();
    JsonBuffer out = new JsonBuffer(1_000);
    writer.begin(header(since), out);
    for (ImageFrame frame : frames) {
      if (!(frame instanceof Header)) {
        writer.append(frame, out);
      }
    }
    writer.end(to, out);
    return out.toBytes();
  }

  private static byte[] whole() {
    return written(frames().values(), Optional.empty(), LAST);
  }

  private static List<ImageFrame> parsed(byte[] bytes, int piece) {
    List<ImageFrame> frames = new ArrayList<>();
    ImageParser parser = new ImageParser(frames::add);
    for (int at = 0; at < bytes.length; at += piece) {
      parser.take(bytes, at, Math.min(bytes.length, at + piece));
    }
    parser.finish();
    return frames;
  }

  private static List<KeyValue> split(byte[] bytes) {
    List<KeyValue> frames = new ArrayList<>();
    int at = ImageWriter.MARK.length;
    while (at < bytes.length) {
      int end = at + ImageWriter.HEAD_BYTES + ImageWriter.number(bytes, at + 1);
      end += ImageWriter.CHECK_BYTES;
      frames.add(new KeyValue(new byte[0], Arrays.copyOfRange(bytes, at, end)));
      at = end;
    }
    return frames;
  }

  @Test
  void the_bytes_of_an_image_are_those_of_the_golden_table() {
    GoldenRows golden = GoldenRows.of("ImageFrame");
    golden.assertAre(split(whole()));
    frames()
        .forEach(
            (title, frame) -> {
              byte[] bytes = golden.value(title);
              byte[] payload =
                  Arrays.copyOfRange(
                      bytes, ImageWriter.HEAD_BYTES, bytes.length - ImageWriter.CHECK_BYTES);
              assertThat(ImageFrame.read(bytes[0], payload))
                  .usingRecursiveComparison()
                  .isEqualTo(frame);
            });
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 1_000_000})
  void an_image_is_read_as_it_was_written_whatever_pieces_it_comes_in(int piece) {
    List<ImageFrame> frames = parsed(whole(), piece);
    assertThat(frames.subList(0, frames.size() - 1))
        .usingRecursiveComparison()
        .isEqualTo(List.copyOf(frames().values()));
  }

  @Test
  void an_increment_follows_the_image_at_whose_end_it_begins() {
    byte[] next = written(List.of(new Settings(ROWS)), Optional.of(LAST), LAST);
    assertThat(parsed(join(whole(), next), 100)).hasSize(frames().size() + 4);
    byte[] other = written(List.of(new Settings(ROWS)), Optional.of(FIRST), LAST);
    assertRefused(join(whole(), other), "The increments do not follow each other");
    assertRefused(join(whole(), whole()), "from the beginning");
  }

  @Test
  void a_flipped_bit_is_noticed_wherever_it_is() {
    byte[] sound = whole();
    for (int at = 0; at < sound.length; at++) {
      byte[] flipped = sound.clone();
      flipped[at] ^= 0x10;
      assertThatThrownBy(() -> parsed(flipped, 100))
          .as("byte %d", at)
          .isInstanceOf(LectusException.class)
          .hasMessageStartingWith("bad_image: ");
    }
  }

  @Test
  void an_image_that_is_cut_off_is_refused_wherever_it_is_cut() {
    byte[] sound = whole();
    for (int length = 0; length < sound.length; length++) {
      assertRefused(
          Arrays.copyOf(sound, length),
          length == 0 ? "The image is empty" : "The image is cut off");
    }
  }

  @Test
  void what_does_not_belong_together_is_refused() {
    assertRefused("PK\u0003\u0004, a foreign file".getBytes(StandardCharsets.UTF_8), "no image");
    assertRefusedWithout(frames -> without(frames, Settings.class), "a document is out of place");
    assertRefusedWithout(frames -> without(frames, Departures.class), "a document is not whole");
    assertRefusedWithout(frames -> without(frames, Chunk.class), "a content is not whole");
    assertRefusedWithout(frames -> without(frames, Document.class), "a frame is out of place");
    List<ImageFrame> other = List.of(new Settings(ROWS), new Content(ID, MD5, 3, Optional.empty()));
    List<ImageFrame> damaged = new ArrayList<>(other);
    damaged.add(new Chunk(new byte[] {1, 1, 2}));
    assertRefused(written(damaged, Optional.empty(), LAST), "a content has another digest");
  }

  @Test
  void a_frame_that_says_it_is_longer_than_any_is_refused_before_it_comes() {
    byte[] bytes = Arrays.copyOf(whole(), 100);
    bytes[ImageWriter.MARK.length + 1] = 0x7f;
    assertRefused(bytes, "a frame says that it has");
  }

  @ParameterizedTest
  @EnumSource(names = {"SETTINGS", "DEPARTURES", "PURGES"})
  void more_rows_than_a_frame_may_have_are_refused_though_they_are_short(Type type) {
    int most = ImageFrame.Rows.MOST;
    assertThat(((ImageFrame.Rows) ImageFrame.read(type.number(), tinyRows(most))).rows())
        .hasSize(most);
    byte[] more = tinyRows(most + 1);
    assertThat(more).hasSizeLessThan(ImageParser.MOST_BYTES);
    assertThatThrownBy(() -> ImageFrame.read(type.number(), more))
        .isInstanceOf(MalformedTupleException.class);
  }

  private static byte[] tinyRows(int count) {
    TupleWriter payload = new TupleWriter(count);
    new Settings(Collections.nCopies(count, new KeyValue(new byte[] {1}, new byte[] {1})))
        .writeTo(payload);
    return payload.toBytes();
  }

  private static List<ImageFrame> without(List<ImageFrame> frames, Class<?> type) {
    return frames.stream().filter(it -> !type.isInstance(it)).toList();
  }

  private static void assertRefusedWithout(
      UnaryOperator<List<ImageFrame>> change, String sentence) {
    List<ImageFrame> frames = change.apply(List.copyOf(frames().values()));
    assertRefused(written(frames, Optional.empty(), LAST), sentence);
  }

  private static void assertRefused(byte[] bytes, String sentence) {
    assertThatThrownBy(() -> parsed(bytes, 100))
        .isInstanceOf(LectusException.class)
        .hasMessageContaining(sentence);
  }

  private static byte[] join(byte[] one, byte[] other) {
    byte[] both = Arrays.copyOf(one, one.length + other.length);
    System.arraycopy(other, 0, both, one.length, other.length);
    return both;
  }
}
