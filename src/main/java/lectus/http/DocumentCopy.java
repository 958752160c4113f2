package lectus.http;

import java.util.Arrays;
import java.util.Optional;
import lectus.database.DatabaseName;
import lectus.document.DocumentEdit;
import lectus.document.DocumentParser;
import lectus.document.DocumentReader;
import lectus.document.ReadOptions;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionId;

/** COPY of a document to the name in the header {@code Destination}. */
final class DocumentCopy {
  private final DocumentReader documents;
  private final DocumentParser parser;
  private final DocumentWrites writes;

  DocumentCopy(Services services, DocumentWrites writes) {
    this.documents = services.documents();
    this.parser = services.parser();
    this.writes = writes;
  }

  /** Where to, and over which revision. */
  private record Destination(String id, Optional<RevisionId> rev) {}

  void copy(Exchange exchange, DatabaseName database, String source) {
    Destination target = destination(exchange.header("Destination"));
    ReadOptions options = readOptions(DocumentWrites.givenRevision(exchange));
    String location = Locations.of(exchange, database.text(), target.id());
    exchange
        .work(() -> edit(database, source, options, target))
        .onComplete(
            edit ->
                exchange.guarded(
                    () ->
                        writes.submit(
                            exchange,
                            database,
                            edit,
                            edit.body().jsonBytes(),
                            done -> EditReplies.of(done, 201, location))),
            exchange::fail);
  }

  private static Destination destination(String header) {
    if (header == null) {
      throw LectusException.badRequest("Destination header is mandatory for COPY.");
    }
    if (header.startsWith("http://") || header.startsWith("https://")) {
      throw LectusException.badRequest("Destination URL must be relative.");
    }
    int question = header.indexOf('?');
    int end = question < 0 ? header.length() : question;
    QueryParameters query =
        question < 0 ? QueryParameters.NONE : QueryParameters.parse(header.substring(question + 1));
    return new Destination(
        RequestTarget.decode(header, 0, end), query.text("rev").map(RevisionId::of));
  }

  private static ReadOptions readOptions(Optional<RevisionId> rev) {
    return new ReadOptions(
        rev, false, false, false, false, false, false, ReadOptions.DEFAULT.fields());
  }

  private DocumentEdit edit(
      DatabaseName database, String source, ReadOptions options, Destination target) {
    JsonBuffer json = new JsonBuffer(1_024);
    RevisionId rev = documents.read(database, source, options, json);
    byte[] body = withoutIdentity(json, source, rev);
    DocumentEdit copied = parser.interactive(target.id(), target.rev(), body);
    return new DocumentEdit(copied.id(), copied.base(), false, copied.body());
  }

  /** The document without {@code _id} and {@code _rev}, which always come first. */
  private static byte[] withoutIdentity(JsonBuffer json, String id, RevisionId rev) {
    JsonBuffer head = new JsonBuffer(128);
    head.ascii("{\"_id\":").string(id).ascii(",\"_rev\":").string(rev.toString());
    byte[] read = json.toBytes();
    int length = head.length();
    boolean others = read[length] == ',';
    byte[] rest = Arrays.copyOfRange(read, others ? length : length - 1, read.length);
    rest[0] = '{';
    return rest;
  }
}
