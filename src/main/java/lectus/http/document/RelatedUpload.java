package lectus.http.document;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import lectus.attachment.AttachmentIntake;
import lectus.attachment.AttachmentUpload;
import lectus.database.DatabaseName;
import lectus.document.edit.ArrivingJson;
import lectus.document.edit.AttachmentEdits;
import lectus.document.edit.Edit;
import lectus.document.edit.EditedAttachment;
import lectus.document.edit.SentJson;
import lectus.error.LectusException;
import lectus.http.PartStream;
import lectus.http.RelatedDocument;
import lectus.http.exchange.BodySink;
import lectus.http.exchange.Requests;
import lectus.http.limits.BodyMemory;

/**
 * A document and the attachments that follow it, in the document's order. The document is kept
 * until the body ends; attachments are stored while they arrive.
 */
final class RelatedUpload implements BodySink<Edit>, PartStream.Parts {
  private final AttachmentIntake intake;
  private final DatabaseName database;
  private final Function<SentJson, Edit> parsing;
  private final int mostBytes;
  private final PartStream stream;
  private final ArrivingJson json;
  private final List<EditedAttachment.Following> following = new ArrayList<>();
  private final Map<String, EditedAttachment> stored = new HashMap<>();
  private Optional<Edit> edit = Optional.empty();
  private Optional<AttachmentUpload> upload = Optional.empty();
  private EditedAttachment.Following current;
  private long bytes;
  private long contentBytes;

  /**
   * @param mostBytes maximum length of the body without its attachments
   */
  RelatedUpload(
      RelatedDocument form,
      AttachmentIntake intake,
      DatabaseName database,
      Function<SentJson, Edit> parsing,
      int mostBytes) {
    this.intake = intake;
    this.database = database;
    this.parsing = parsing;
    this.mostBytes = mostBytes;
    this.json = ArrivingJson.ofDocument(intake, database);
    this.stream = form.parts(this);
  }

  @Override
  public void take(byte[] next) {
    bytes += next.length;
    stream.take(next);
    if (bytes - contentBytes + json.heldBytes() > mostBytes) {
      throw Requests.tooLarge(mostBytes);
    }
  }

  /** The document is copied when it is complete. */
  @Override
  public Held held() {
    return new Held(
        edit.isPresent() ? 2L * json.heldBytes() : json.heldBytes(),
        BodyMemory.UNKNOWN,
        upload.map(AttachmentUpload::heldBytes).orElse(0L) + json.passingBytes());
  }

  @Override
  public void relieve() {
    upload.ifPresent(AttachmentUpload::relieve);
    json.relieve();
  }

  @Override
  public void begins(String headers) {
    if (edit.isEmpty()) {
      RelatedDocument.checkJson(headers);
      return;
    }
    if (following.isEmpty()) {
      throw LectusException.badRequest("More parts came than attachments that are to follow.");
    }
    current = next(RelatedDocument.fileNames(headers));
    following.remove(current);
    upload = Optional.of(intake.begin(database, current.name(), current.type(), current.gzipped()));
  }

  /** The next one in the document's order, or the one that the part names. */
  private EditedAttachment.Following next(Set<String> names) {
    return following.stream()
        .filter(it -> names.isEmpty() || names.contains(it.name()) || names.contains(line(it)))
        .findFirst()
        .orElseThrow(
            () ->
                LectusException.badRequest("A part came for an attachment that does not follow."));
  }

  /** Senders replace what would end the header. */
  private static String line(EditedAttachment attachment) {
    return attachment.name().replaceAll("\\p{Cntrl}", " ");
  }

  @Override
  public void content(byte[] part, int from, int to) {
    contentBytes += to - from;
    if (upload.isEmpty()) {
      json.take(part, from, to);
      return;
    }
    upload.get().write(part, from, to);
    if (current.encodedLength().isPresent()
        && upload.get().length() > current.encodedLength().get()) {
      throw LectusException.badRequest("attachment longer than expected");
    }
  }

  @Override
  public void ends() {
    if (upload.isPresent()) {
      finish(upload.get());
      upload = Optional.empty();
    } else {
      edit = Optional.of(parsing.apply(json.end()));
      following.addAll(edit.get().attachments().following());
    }
  }

  @Override
  public boolean wouldBeWholeWith(int more) {
    return upload
        .filter(it -> following.isEmpty())
        .map(AttachmentUpload::length)
        .flatMap(length -> current.encodedLength().map(all -> all == length + more))
        .orElse(false);
  }

  private void finish(AttachmentUpload whole) {
    if (current.encodedLength().isPresent() && whole.length() < current.encodedLength().get()) {
      throw shorter();
    }
    stored.put(
        current.name(),
        new EditedAttachment.Ready(
            whole.finish(current.md5(), current.position(), current.length()), true));
  }

  @Override
  public Edit end() {
    stream.end();
    if (!following.isEmpty()) {
      throw shorter();
    }
    Edit whole = edit.orElseThrow();
    return whole.withAttachments(new AttachmentEdits(withStored(whole)));
  }

  private List<EditedAttachment> withStored(Edit whole) {
    return whole.attachments().all().stream()
        .map(it -> it instanceof EditedAttachment.Following ? stored.get(it.name()) : it)
        .toList();
  }

  private static LectusException shorter() {
    return LectusException.badRequest("attachment shorter than expected");
  }

  @Override
  public void abandon() {
    upload.ifPresent(AttachmentUpload::abandon);
    json.abandon();
  }
}
