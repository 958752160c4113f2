package lectus.image;

import static lectus.document.testing.TestDatabase.edit;
import static lectus.document.testing.TestDatabase.local;
import static lectus.document.testing.TestDatabase.utf8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import lectus.attachment.AttachmentIntake;
import lectus.attachment.AttachmentIntake.AttachmentSettings;
import lectus.attachment.AttachmentIntake.ContentStore;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.database.RelocationsSubspace.Attempt;
import lectus.database.RelocationsSubspace.Reached;
import lectus.database.Sequence;
import lectus.database.Whereabouts.Secret;
import lectus.document.edit.AttachmentEdits.InlineAttachments;
import lectus.document.edit.Edit;
import lectus.document.testing.TestDatabase;
import lectus.document.write.EditOutcome;
import lectus.image.ImageFrame.Content;
import lectus.image.ImageReading.Asked;
import lectus.image.ImageReading.ResumableCopy;
import lectus.image.ImageStoring.Former;
import lectus.json.JsonBuffer;
import lectus.relocation.Arrivals;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What one image that is read or stored may take of memory and of time. */
final class ImageStoringTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  /** What a transaction reads of an image, and a chunk more. */
  private static final int MOST_PART = 2 << 20;

  /** A batch that is stored, and the next one. */
  private static final long MOST_HELD = 4 << 20;

  private final TestDatabase db = TestDatabase.create(stores.fresh());

  private boolean requestsWait;

  /** Of the last image of a chain. */
  private Sequence end;

  /** Of local documents. */
  private final Map<String, String> revisions = new HashMap<>();

  private ImageReading reading() {
    return reading(new Asked(Optional.empty(), Optional.empty()));
  }

  private ImageReading reading(Asked what) {
    return new ImageReading(
        db.store,
        db.catalogue,
        InstantSource.system(),
        DatabaseRequest.byServer(db.name),
        what,
        () -> requestsWait,
        db.store.tasks().begin("backup"));
  }

  private List<byte[]> parts() {
    ImageReading reading = reading();
    List<byte[]> parts = new ArrayList<>();
    boolean more = true;
    while (more) {
      JsonBuffer part = new JsonBuffer(1_000);
      more = reading.appendNext(part);
      parts.add(part.toBytes());
      assertThat(reading.keptBytes()).isLessThan(MOST_PART);
    }
    return parts;
  }

  private ImageStoring storing(InstantSource clock) {
    return new ImageStoring(
        db.store, db.catalogue, DatabaseName.of("copy"), Optional.empty(), Optional.empty(), clock);
  }

  private void assertTakesLittle() {
    List<byte[]> parts = parts();
    assertThat(parts).hasSizeGreaterThan(8).allMatch(part -> part.length < MOST_PART);
    assertIsCopied(parts);
  }

  private void assertIsCopied(List<byte[]> parts) {
    ImageStoring storing = storing(InstantSource.system());
    for (byte[] part : parts) {
      storing.take(part);
      assertThat(storing.heldBytes()).isLessThan(MOST_HELD);
    }
    storing.end();
    assertThat(storing.fillNext()).isFalse();
    storing.appear();
    WholeDatabase copy = WholeDatabase.of(TestDatabase.open(db.store, "copy"));
    assertThat(copy.differencesTo(WholeDatabase.of(db))).isEmpty();
  }

  @Test
  void a_large_attachment_goes_through_in_parts() {
    attach("d", 20_000_000);
    assertTakesLittle();
  }

  /** It is not seen each time that one looks. */
  @Test
  void time_is_left_to_requests_until_none_has_waited_for_some_parts() {
    attach("d", 10_000_000);
    ImageReading reading = reading();
    List<Boolean> pauses = new ArrayList<>();
    boolean more = true;
    while (more) {
      requestsWait = pauses.size() == 2;
      more = reading.appendNext(new JsonBuffer(1_000));
      pauses.add(reading.pauseMillis() > 0);
    }
    assertThat(pauses.subList(0, 8))
        .containsExactly(false, false, true, true, true, true, true, false);
    assertThat(pauses).hasSizeGreaterThan(10).endsWith(false);
  }

  private void attach(String id, int length) {
    byte[] bytes = new byte[length];
    new Random(1).nextBytes(bytes);
    Edit edit =
        edit(
            id,
            null,
            "{\"_attachments\":{\"a\":{\"data\":\""
                + Base64.getEncoder().encodeToString(bytes)
                + "\"}}}");
    InlineAttachments attachments =
        new InlineAttachments(
            new AttachmentIntake(
                new ContentStore(db.catalogue, db.transactions), () -> AttachmentSettings.DEFAULT));
    db.write(attachments.stored(db.name, edit));
  }

  @Test
  void contents_beyond_those_that_are_remembered_come_again() {
    HeldContents held = new HeldContents(3);
    List<byte[]> chain = new ArrayList<>();
    attach("a1", 1);
    attach("a2", 2);
    attach("a3", 3);
    assertThat(lengthsIn(chain, held)).containsExactlyInAnyOrder(1L, 2L, 3L);
    attach("b1", 1);
    attach("b2", 2);
    attach("b3", 3);
    assertThat(lengthsIn(chain, held)).isEmpty();
    attach("a4", 4);
    assertThat(lengthsIn(chain, held)).containsExactly(4L);
    for (int length = 1; length <= 4; length++) {
      attach("c" + length, length);
    }
    assertThat(lengthsIn(chain, held)).containsExactly(4L);
    assertThat(held.named()).hasSize(3 * 16);
    assertIsCopied(chain);
  }

  /** Returns how long the contents are that come with the next image of a chain. */
  private List<Long> lengthsIn(List<byte[]> chain, HeldContents held) {
    Optional<Sequence> since = chain.isEmpty() ? Optional.empty() : Optional.of(end);
    ImageReading reading =
        reading(
            new Asked(
                since, Optional.of("chain"), HeldContents.of(held.named()), Optional.empty()));
    JsonBuffer image = new JsonBuffer(1_000);
    while (reading.appendNext(image)) {
      continue;
    }
    chain.add(image.toBytes());
    List<Long> lengths = new ArrayList<>();
    ImageParser parser =
        new ImageParser(
            frame -> {
              held.take(frame);
              if (frame instanceof Content content) {
                lengths.add(content.length());
              }
            });
    parser.take(image.toBytes(), 0, image.length());
    end = parser.finish().sequence();
    assertThat(held.lacking()).isEmpty();
    return lengths;
  }

  /** What is kept for a name, the later stream has said that it does not need. */
  @Test
  void an_image_does_not_end_if_another_was_begun_under_its_name() {
    db.write(local("l", "0-0", "{\"n\":1}"));
    String text = "x".repeat(100_000);
    for (int i = 0; i < 20; i++) {
      db.put("d" + i, "{\"t\":\"" + text + "\"}");
    }
    Asked whole = new Asked(Optional.empty(), Optional.of("chain"));
    ImageReading first = reading(whole);
    first.appendNextStep(new JsonBuffer(1_000));
    db.write(local("l", "0-1", "{\"n\":2}"));
    db.put("later", "{}");
    ImageReading second = reading(whole);
    second.appendNextStep(new JsonBuffer(1_000));

    assertThatThrownBy(() -> readToTheEnd(first)).hasMessageContaining("another image");
    readToTheEnd(second);
    assertThat(second.last()).isPresent();
  }

  private static void readToTheEnd(ImageReading reading) {
    while (reading.appendNext(new JsonBuffer(1_000))) {
      continue;
    }
  }

  /** Within a document of many leaves, within an attachment, and between documents. */
  @Test
  void a_copy_goes_on_wherever_it_was_killed() {
    String text = "x".repeat(4_000);
    for (int i = 0; i < 120; i++) {
      db.replicate("many", "{\"n\":" + i + ",\"t\":\"" + text + "\"}", "1-" + "%032x".formatted(i));
    }
    attach("attached", 1_000_000);
    for (int i = 0; i < 100; i++) {
      db.put("d" + i, "{\"t\":\"" + text.repeat(3) + "\"}");
    }
    WholeDatabase whole = WholeDatabase.of(db);
    int resumed = 0;
    for (int round = 0; round < 3; round++) {
      Copying copying = new Copying("copy" + round, new Random(round));
      resumed += copying.run();
      assertThat(WholeDatabase.of(TestDatabase.open(db.store, "copy" + round)).differencesTo(whole))
          .as("round %s", round)
          .isEmpty();
    }
    assertThat(resumed).isPositive();
  }

  /** A database that comes from another place in pieces. */
  private final class Copying {
    private final String name;
    private final Random random;
    private final Arrivals arrivals = new Arrivals(db.store, db.catalogue);
    private Optional<Former> former = Optional.empty();
    private Optional<byte[]> mark = Optional.empty();
    private int resumed;

    Copying(String name, Random random) {
      this.name = name;
      this.random = random;
    }

    /** Returns how often it has gone on where it broke off. */
    int run() {
      String id = "%032x".formatted(random.nextInt(1_000_000));
      for (int number = 1; ; number++) {
        Attempt attempt = new Attempt(id, number);
        resumed += former.isPresent() ? 1 : 0;
        ImageStoring storing = arrivals.receive(attempt, former, DatabaseName.of(name));
        if (copies(storing)) {
          storing.end();
          arrivals.open(attempt, new Secret("s"));
          return resumed;
        }
        if (random.nextBoolean()) {
          storing.abandon();
        }
        look(attempt);
      }
    }

    /** Returns whether it came to the end. */
    private boolean copies(ImageStoring storing) {
      ResumableCopy copy = new ResumableCopy(1, mark);
      ImageReading reading =
          reading(
              new Asked(
                  Optional.empty(), Optional.of("~" + name), any -> false, Optional.of(copy)));
      int left = random.nextInt(2_500_000);
      boolean more = true;
      while (more) {
        JsonBuffer part = new JsonBuffer(1_000);
        more = reading.appendNext(part);
        storing.take(Arrays.copyOf(part.toBytes(), Math.min(left, part.length())));
        left -= part.length();
        if (left < 0) {
          return false;
        }
      }
      return true;
    }

    private void look(Attempt attempt) {
      mark = arrivals.outcome(attempt).reached().map(Reached::place);
      former = mark.map(there -> new Former(attempt, OptionalLong.empty()));
      if (mark.isEmpty()) {
        arrivals.abort(attempt);
      }
    }
  }

  /** Otherwise the other place would count one image twice, and not miss the last one. */
  @Test
  void an_attempt_that_has_stored_more_than_was_seen_is_not_gone_on_with() {
    db.put("a", "{}");
    Arrivals arrivals = new Arrivals(db.store, db.catalogue);
    String id = "%032x".formatted(1);
    ResumableCopy copy = new ResumableCopy(1, Optional.empty());
    JsonBuffer image = new JsonBuffer(1_000);
    ImageReading reading =
        reading(new Asked(Optional.empty(), Optional.of("~f"), any -> false, Optional.of(copy)));
    while (reading.appendNext(image)) {
      continue;
    }
    Attempt first = new Attempt(id, 1);
    arrivals.receive(first, Optional.empty(), DatabaseName.of("moved")).take(image.toBytes());
    assertThat(arrivals.outcome(first).images()).isOne();

    Former early = new Former(first, OptionalLong.of(0));
    ImageStoring wrong =
        arrivals.receive(new Attempt(id, 2), Optional.of(early), DatabaseName.of("moved"));
    assertThatThrownBy(() -> wrong.take(image.toBytes())).hasMessageContaining("left nothing");
    Former now = new Former(first, OptionalLong.of(1));
    Attempt third = new Attempt(id, 3);
    arrivals.receive(third, Optional.of(now), DatabaseName.of("moved")).take(image.toBytes());
    assertThat(arrivals.outcome(third).images()).isEqualTo(2);
  }

  /** Its histories alone are larger than what may be held. */
  @Test
  void a_document_with_many_leaves_goes_through_in_parts() {
    String[] path = new String[400];
    for (int i = 1; i < path.length; i++) {
      path[i] = path.length - i + "-" + "%032x".formatted(i);
    }
    for (int batch = 0; batch < 10; batch++) {
      List<Edit> edits = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        path[0] = path.length + "-" + "%032x".formatted(1_000 * batch + i);
        edits.add(TestDatabase.replicated("d", "{\"n\":" + i + "}", path));
      }
      db.write(edits);
    }
    assertTakesLittle();
  }

  /** Two pages of their marks, and more than two of their bodies. */
  @Test
  void local_documents_that_are_written_meanwhile_come_as_they_are_last() {
    writeLocals(0, 1);
    ImageReading reading = reading();
    JsonBuffer image = new JsonBuffer(1_000);
    int step = 0;
    while (reading.appendNextStep(image)) {
      step++;
      if (step < 6) {
        writeLocals(step % 3, step);
      }
    }
    assertThat(step).isGreaterThan(6);
    assertIsCopied(List.of(image.toBytes()));
  }

  private void writeLocals(int first, int gap) {
    String text = "x".repeat(4_000);
    List<Edit> edits = new ArrayList<>();
    for (int i = first; i < 450; i += gap) {
      String id = "_local/" + i;
      edits.add(
          TestDatabase.local(
              id,
              revisions.getOrDefault(id, "0-0"),
              "{\"gap\":" + gap + ",\"text\":\"" + text + "\"}"));
      revisions.merge(
          id, "0-1", (before, one) -> "0-" + (Integer.parseInt(before.substring(2)) + 1));
    }
    assertThat(db.write(edits)).allMatch(EditOutcome.Written.class::isInstance);
  }

  @Test
  void a_restore_may_take_thirty_days_and_not_longer() {
    db.put("d", "{}");
    Instant begun = Instant.ofEpochSecond(1_800_000_000);
    AtomicReference<Instant> now = new AtomicReference<>(begun);
    ImageStoring storing = storing(now::get);
    byte[] image = parts().get(0);
    storing.take(image);
    now.set(begun.plus(Duration.ofDays(30)));
    storing.take(new byte[0]);
    now.set(begun.plus(Duration.ofDays(30)).plusMillis(1));
    assertThatThrownBy(() -> storing.take(utf8("more"))).hasMessageContaining("request_timeout");
    storing.abandon();
  }
}
