package lectus.http.document;

import io.vertx.core.http.HttpHeaders;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;
import lectus.attachment.Attachment;
import lectus.attachment.ByteSource;
import lectus.database.AskedDatabase;
import lectus.document.PagedBody;
import lectus.document.read.AttachmentReader;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.StreamedBody;
import lectus.http.message.AcceptedEncodings;
import lectus.http.message.Boundary;
import lectus.http.message.EntityTag;
import lectus.http.message.Headers;
import lectus.http.message.Reply;
import lectus.revision.RevisionId;

/** GET of an attachment, whole or in parts, as it is stored or decompressed. */
final class AttachmentRetrieval {
  private static final int PARTIAL = 206;
  private static final String GZIP = "gzip";

  private final AttachmentReader attachments;

  AttachmentRetrieval(AttachmentReader attachments) {
    this.attachments = attachments;
  }

  void get(Exchange exchange, AskedDatabase database, String id, String name) {
    Optional<RevisionId> leaf = exchange.query().text("rev").map(RevisionId::of);
    boolean latest = exchange.query().isTrue("latest");
    exchange.streamTagged(
        () -> answer(exchange, database, attachments.find(database, id, leaf, latest, name)));
  }

  private StreamedBody answer(Exchange exchange, AskedDatabase database, Attachment found) {
    EntityTag tag = new EntityTag(found.md5().base64());
    boolean seen = exchange.hasSeen(tag);
    StreamedBody body =
        found.gzipped()
            ? compressed(exchange, database, found, seen ? null : range(exchange, tag))
            : plain(database, found, seen ? null : range(exchange, tag));
    return new StreamedBody(
            body.status(),
            body.contentType(),
            () -> Optional.of(tag),
            body.headers(),
            body.length(),
            body.body())
        .with(headers());
  }

  /** A part is of use only to who has the rest of the same content (RFC 9110, section 13.1.5). */
  private static String range(Exchange exchange, EntityTag tag) {
    String same = exchange.header("If-Range");
    return same == null || same.equals(tag.header()) ? exchange.header("Range") : null;
  }

  /** An attachment may be a page; it must not act as one of the server's. */
  private static List<Reply.Header> headers() {
    return List.of(
        new Reply.Header(Headers.CACHE_CONTROL, Headers.MUST_REVALIDATE.toString()),
        new Reply.Header("Content-Security-Policy", "sandbox"));
  }

  /**
   * As CouchDB, it gives parts only of what is not compressed, but refuses those that cannot be.
   */
  private StreamedBody compressed(
      Exchange exchange, AskedDatabase database, Attachment found, String range) {
    List<Reply.Header> headers = new ArrayList<>();
    headers.add(new Reply.Header(HttpHeaders.ACCEPT_RANGES, "none"));
    headers.add(new Reply.Header(HttpHeaders.VARY, "Accept-Encoding"));
    if (!accepts(exchange)) {
      satisfiable(range, found.length());
      return new StreamedBody(
          200,
          Headers.sendable(found.type()),
          Optional::empty,
          headers,
          OptionalLong.of(found.length()),
          new SourceParts(List.of(() -> attachments.plain(database, found))));
    }
    satisfiable(range, found.storedLength());
    headers.add(new Reply.Header(HttpHeaders.CONTENT_ENCODING, GZIP));
    return whole(database, found).with(headers);
  }

  private static boolean accepts(Exchange exchange) {
    return AcceptedEncodings.of(exchange.request().headers().getAll(HttpHeaders.ACCEPT_ENCODING))
        .include(GZIP);
  }

  private StreamedBody plain(AskedDatabase database, Attachment found, String header) {
    ByteRanges ranges = satisfiable(header, found.length());
    StreamedBody body =
        switch (ranges.all().size()) {
          case 0 -> whole(database, found);
          case 1 -> part(database, found, ranges.all().get(0));
          default -> parts(database, found, ranges.all());
        };
    return body.with(List.of(new Reply.Header(HttpHeaders.ACCEPT_RANGES, "bytes")));
  }

  private static ByteRanges satisfiable(String header, long length) {
    ByteRanges ranges = ByteRanges.of(header, length);
    if (!ranges.satisfiable()) {
      throw new LectusException(new LectusError.RangeNotSatisfiable(length));
    }
    return ranges;
  }

  private StreamedBody whole(AskedDatabase database, Attachment found) {
    return StreamedBody.ofLength(
        found.storedLength(),
        Headers.sendable(found.type()),
        List.of(
            new Reply.Header("Content-MD5", found.md5().base64()),
            new Reply.Header("Repr-Digest", "sha-256=:" + found.content().base64() + ":")),
        bytes(database, found, 0, found.storedLength()));
  }

  private StreamedBody part(AskedDatabase database, Attachment found, ByteRanges.Part part) {
    return StreamedBody.ofLength(
            part.length(),
            Headers.sendable(found.type()),
            List.of(new Reply.Header(HttpHeaders.CONTENT_RANGE, part.contentRange(found.length()))),
            bytes(database, found, part.from(), part.end()))
        .withStatus(PARTIAL);
  }

  private StreamedBody parts(
      AskedDatabase database, Attachment found, List<ByteRanges.Part> parts) {
    String boundary = Boundary.random().text();
    List<Supplier<ByteSource>> sources = new ArrayList<>();
    sources.add(SourceParts.text("--" + boundary));
    for (ByteRanges.Part part : parts) {
      sources.add(
          SourceParts.text(
              "\r\nContent-Type: "
                  + Headers.sendable(found.type())
                  + "\r\nContent-Range: "
                  + part.contentRange(found.length())
                  + "\r\n\r\n"));
      sources.add(() -> attachments.stored(database, found, part.from(), part.end()));
      sources.add(SourceParts.text("\r\n--" + boundary));
    }
    sources.add(SourceParts.text("--"));
    String type = "multipart/byteranges; boundary=\"" + boundary + '"';
    return StreamedBody.of(type, new SourceParts(sources)).withStatus(PARTIAL);
  }

  private PagedBody bytes(AskedDatabase database, Attachment found, long from, long end) {
    return new SourceParts(List.of(() -> attachments.stored(database, found, from, end)));
  }
}
