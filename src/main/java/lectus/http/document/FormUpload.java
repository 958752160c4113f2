package lectus.http.document;

import io.vertx.core.http.HttpHeaders;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.attachment.Attachment;
import lectus.attachment.AttachmentIntake;
import lectus.attachment.AttachmentUpload;
import lectus.database.DatabaseName;
import lectus.document.DocumentId;
import lectus.document.edit.AttachmentName;
import lectus.error.LectusException;
import lectus.http.FormParts;
import lectus.http.Headers;
import lectus.http.PartStream;
import lectus.http.exchange.BodySink;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.PublicUrl;
import lectus.http.exchange.Requests;
import lectus.http.limits.BodyMemory;

/**
 * A browser's form with files for a document: the fields {@code _attachments} are stored while they
 * arrive, the others are kept.
 */
final class FormUpload implements BodySink<FormUpload.Form>, PartStream.Parts {
  private static final String ATTACHMENTS = "_attachments";

  /** As mochiweb, with which CouchDB reads forms. */
  private static final String DEFAULT_TYPE = "text/plain";

  /** As many as a document has at most. */
  private static final int MAX_FIELDS = 1_000;

  private final AttachmentIntake intake;
  private final DatabaseName database;
  private final int mostBytes;
  private final PartStream stream;
  private final Map<String, byte[]> fields = new HashMap<>();
  private final List<Attachment> stored = new ArrayList<>();
  private final ByteArrayOutputStream field = new ByteArrayOutputStream();
  private FormParts.Field current;
  private Optional<AttachmentUpload> upload = Optional.empty();
  private int parts;
  private long kept;

  /**
   * @param document {@code _doc}: the document itself
   * @param revision {@code _rev}: of the document that gets the files
   */
  record Form(Optional<byte[]> document, Optional<String> revision, List<Attachment> files) {}

  /**
   * @param mostBytes maximum length of all fields that are not files
   */
  FormUpload(String contentType, AttachmentIntake intake, DatabaseName database, int mostBytes) {
    this.intake = intake;
    this.database = database;
    this.mostBytes = mostBytes;
    this.stream = FormParts.of(contentType, this);
  }

  @Override
  public void take(byte[] bytes) {
    stream.take(bytes);
  }

  @Override
  public Held held() {
    return new Held(
        2 * kept, BodyMemory.UNKNOWN, upload.map(AttachmentUpload::heldBytes).orElse(0L));
  }

  @Override
  public void relieve() {
    upload.ifPresent(AttachmentUpload::relieve);
  }

  @Override
  public void begins(String headers) {
    current = FormParts.field(headers);
    parts++;
    keep(headers.length());
    if (parts > MAX_FIELDS) {
      throw tooLarge();
    }
    if (current.name().equals(ATTACHMENTS)) {
      String name = AttachmentName.check(current.file().orElse(""));
      String type =
          AttachmentName.checkType(current.type().map(Headers::text).orElse(DEFAULT_TYPE));
      upload = Optional.of(intake.begin(database, name, type, false));
    }
  }

  @Override
  public void content(byte[] bytes, int from, int to) {
    if (upload.isPresent()) {
      upload.get().write(bytes, from, to);
    } else {
      keep(to - from);
      field.write(bytes, from, to - from);
    }
  }

  private void keep(long bytes) {
    kept += bytes;
    if (kept > mostBytes) {
      throw tooLarge();
    }
  }

  private static LectusException tooLarge() {
    return LectusException.tooLarge("too_large", "the request entity is too large");
  }

  @Override
  public void ends() {
    if (upload.isPresent()) {
      stored.add(upload.get().finish(Optional.empty(), 0, Optional.empty()));
      upload = Optional.empty();
    } else {
      fields.put(current.name(), field.toByteArray());
      field.reset();
    }
  }

  @Override
  public Form end() {
    stream.end();
    return new Form(
        Optional.ofNullable(fields.get("_doc")),
        Optional.ofNullable(fields.get("_rev"))
            .map(bytes -> new String(bytes, StandardCharsets.UTF_8)),
        stored);
  }

  @Override
  public void abandon() {
    upload.ifPresent(AttachmentUpload::abandon);
  }

  /**
   * Checks a browser's form with attachments for a document. Browsers send such a form to any
   * server without asking, so CouchDB requires it to come from a page of its own.
   *
   * @throws LectusException CouchDB's reasons to refuse the form
   */
  static void check(Exchange exchange, String id) {
    requireOwnPage(exchange);
    DocumentId.check(id, Integer.MAX_VALUE);
    Requests.wantContentType(exchange, FormParts.MEDIA_TYPE);
  }

  private static void requireOwnPage(Exchange exchange) {
    String referer = exchange.header(HttpHeaders.REFERER);
    if (referer == null) {
      throw LectusException.badRequest("Referer header required.");
    }
    if (!hostOf(referer).equals(PublicUrl.host(exchange))) {
      throw LectusException.badRequest("Referer header must match host.");
    }
  }

  private static String hostOf(String referer) {
    try {
      String authority = new URI(referer).getRawAuthority();
      return authority == null ? "" : authority;
    } catch (URISyntaxException e) {
      return "";
    }
  }
}
