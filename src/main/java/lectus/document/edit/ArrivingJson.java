package lectus.document.edit;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import lectus.attachment.Attachment;
import lectus.attachment.AttachmentIntake;
import lectus.attachment.AttachmentUpload;
import lectus.attachment.ContentUpload;
import lectus.database.DatabaseName;
import lectus.document.edit.SentJson.DataMarks;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.PlacedStrings;
import lectus.json.PlacedStrings.Step;

/**
 * JSON of documents while it comes. Long data of attachments are decoded and stored as they come,
 * and a mark takes their place. The rest is held, and from a certain length on lies in the store,
 * as an upload that is never finished. Its methods wait for the store. Not thread-safe.
 */
public final class ArrivingJson implements PlacedStrings.Taker {
  /** Data of no more characters stay in the JSON: they cost less there than a mark's content. */
  static final int SHORT_DATA = 16 << 10;

  private static final String DATA = "data";
  private static final String TYPE = "content_type";

  private static final Step ATTACHMENTS = Step.member("_attachments");
  private static final List<Step> IN_DOCUMENT = List.of(ATTACHMENTS, Step.ANY_MEMBER);
  private static final List<Step> IN_DOCUMENTS =
      List.of(Step.member("docs"), Step.ELEMENT, ATTACHMENTS, Step.ANY_MEMBER);

  private final AttachmentIntake intake;
  private final DatabaseName database;
  private final long mostHeld;
  private final PlacedStrings strings;
  private Held json = new Held();

  /** Drawn for the first mark: most documents have none, and the system is asked for each draw. */
  private DataMarks marks = DataMarks.NONE;

  /** The beginning of a string that may become long. */
  private final ByteArrayOutputStream head = new ByteArrayOutputStream();

  private Optional<ContentUpload> stored = Optional.empty();
  private String member = "";
  private String type = AttachmentMembers.UNKNOWN_TYPE;
  private long typeOf;
  private long object;
  private Optional<AttachmentUpload> upload = Optional.empty();
  private Optional<Base64Text> decoder = Optional.empty();

  /** The mark of a string of which nothing more is taken. */
  private Optional<String> given = Optional.empty();

  private static final class Held extends ByteArrayOutputStream {
    private byte[] array() {
      return buf;
    }
  }

  private ArrivingJson(
      AttachmentIntake intake, DatabaseName database, List<Step> way, long mostHeld) {
    this.intake = intake;
    this.database = database;
    this.mostHeld = mostHeld;
    this.strings = new PlacedStrings(way, Set.of(DATA, TYPE), this);
  }

  /** The JSON of one document, which is held. */
  public static ArrivingJson ofDocument(AttachmentIntake intake, DatabaseName database) {
    return new ArrivingJson(intake, database, IN_DOCUMENT, Long.MAX_VALUE);
  }

  /**
   * The JSON of a {@code _bulk_docs}.
   *
   * @param mostHeld bytes; what is longer lies in the store
   */
  public static ArrivingJson ofDocuments(
      AttachmentIntake intake, DatabaseName database, long mostHeld) {
    return new ArrivingJson(intake, database, IN_DOCUMENTS, mostHeld);
  }

  /** Takes the next bytes. */
  public void take(byte[] bytes, int from, int to) {
    strings.take(bytes, from, to);
  }

  /** Returns how many bytes of JSON it holds. */
  public long heldBytes() {
    return json.size();
  }

  /** Returns how many bytes of JSON it holds at most. */
  public long mostHeldBytes() {
    return mostHeld;
  }

  /** Returns how many bytes it holds that are on their way to the store. */
  public long passingBytes() {
    return upload.map(it -> it.heldBytes() + it.compressorBytes()).orElse(0L)
        + stored.map(ContentUpload::heldBytes).orElse(0L);
  }

  /** Waits until hardly any bytes are on their way. */
  public void relieve() {
    upload.ifPresent(AttachmentUpload::relieve);
    stored.ifPresent(ContentUpload::relieve);
  }

  /** Returns what has come. Data that have not ended are cleared: the JSON is none. */
  public SentJson end() {
    upload.ifPresent(AttachmentUpload::abandon);
    return new SentJson(json.array(), json.size(), stored, marks);
  }

  private DataMarks marks() {
    if (marks == DataMarks.NONE) {
      marks = DataMarks.random();
    }
    return marks;
  }

  /** Gives up. What was stored as a content is swept. */
  public void abandon() {
    upload.ifPresent(AttachmentUpload::abandon);
    stored.ifPresent(ContentUpload::abandon);
  }

  @Override
  public void rest(byte[] bytes, int from, int to) {
    if (stored.isEmpty() && json.size() + (to - from) > mostHeld) {
      ContentUpload beginning = intake.contents().begin(database);
      stored = Optional.of(beginning);
      beginning.write(json.array(), 0, json.size());
      json = new Held();
    }
    if (stored.isPresent()) {
      stored.get().write(bytes, from, to);
    } else {
      json.write(bytes, from, to - from);
    }
  }

  private void rest(byte[] bytes) {
    rest(bytes, 0, bytes.length);
  }

  @Override
  public void begins(String name, long itsObject) {
    member = name;
    object = itsObject;
    head.reset();
  }

  @Override
  public void content(byte[] bytes, int from, int to) {
    if (member.equals(TYPE)) {
      rest(bytes, from, to);
      head.write(bytes, from, Math.min(to - from, Math.max(0, SHORT_DATA - head.size())));
    } else if (isLong()) {
      decode(bytes, from, to);
    } else if (head.size() + (to - from) <= SHORT_DATA) {
      head.write(bytes, from, to - from);
    } else {
      String known = typeOf == object ? type : AttachmentMembers.UNKNOWN_TYPE;
      AttachmentUpload beginning = intake.begin(database, "", known, false);
      upload = Optional.of(beginning);
      decoder = Optional.of(new Base64Text(beginning::write));
      decode(head.toByteArray(), 0, head.size());
      decode(bytes, from, to);
    }
  }

  private boolean isLong() {
    return decoder.isPresent() || given.isPresent();
  }

  private void decode(byte[] bytes, int from, int to) {
    if (decoder.isPresent()) {
      attempt(() -> decoder.get().take(bytes, from, to));
    }
  }

  /** Data that cannot be stored are a fault of their document. */
  private void attempt(Runnable step) {
    try {
      step.run();
    } catch (Base64Text.Invalid noBase64) {
      giveUp(marks().invalid());
    } catch (LectusException failure) {
      if (!(failure.error() instanceof LectusError.TooLarge)) {
        throw failure;
      }
      giveUp(marks().tooLong());
    }
  }

  private void giveUp(String why) {
    given = Optional.of(why);
    decoder = Optional.empty();
    upload.ifPresent(AttachmentUpload::abandon);
    upload = Optional.empty();
  }

  @Override
  public void ends() {
    if (member.equals(TYPE)) {
      type = PlacedStrings.unescaped(head.toByteArray());
      typeOf = object;
    } else if (isLong()) {
      attempt(() -> decoder.ifPresent(Base64Text::end));
      String mark = given.orElseGet(this::finished);
      given = Optional.empty();
      rest(mark.getBytes(StandardCharsets.US_ASCII));
    } else {
      rest(head.toByteArray());
    }
  }

  private String finished() {
    Attachment whole = upload.orElseThrow().finish(Optional.empty(), 0, Optional.empty());
    decoder = Optional.empty();
    upload = Optional.empty();
    return marks().of(whole);
  }
}
