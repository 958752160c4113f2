package lectus.http.document;

import io.vertx.core.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;
import lectus.attachment.Attachment;
import lectus.attachment.ByteSource;
import lectus.database.DatabaseRequest;
import lectus.document.PagedBody;
import lectus.document.read.AttachmentReader;
import lectus.http.AcceptedEncodings;
import lectus.http.Boundary;
import lectus.http.ByteRanges;
import lectus.http.EntityTag;
import lectus.http.Headers;
import lectus.http.Reply;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.StreamedBody;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionId;

/** GET of an attachment, whole or in parts, as it is stored or decompressed. */
final class AttachmentRetrieval {
  private static final int PARTIAL = 206;
  private static final String GZIP = "gzip";

  private final AttachmentReader attachments;

  AttachmentRetrieval(AttachmentReader attachments) {
    this.attachments = attachments;
  }

  void get(Exchange exchange, DatabaseRequest database, String id, String name) {
    Optional<RevisionId> leaf = exchange.query().text("rev").map(RevisionId::of);
    boolean latest = exchange.query().isTrue("latest");
    exchange.streamTagged(
        () -> answer(exchange, database, attachments.find(database, id, leaf, latest, name)));
  }

  private StreamedBody answer(Exchange exchange, DatabaseRequest database, Attachment found) {
    EntityTag tag = new EntityTag(found.md5().base64());
    boolean seen = exchange.hasSeen(tag);
    StreamedBody body =
        found.gzipped()
            ? compressed(exchange, database, found, seen ? null : exchange.range(tag))
            : plain(database, found, seen ? null : exchange.range(tag));
    return new StreamedBody(
            body.status(),
            body.contentType(),
            () -> Optional.of(tag),
            body.headers(),
            body.length(),
            body.body())
        .with(headers());
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
      Exchange exchange, DatabaseRequest database, Attachment found, String range) {
    List<Reply.Header> headers = new ArrayList<>();
    headers.add(new Reply.Header(HttpHeaders.ACCEPT_RANGES, "none"));
    headers.add(new Reply.Header(HttpHeaders.VARY, "Accept-Encoding"));
    if (!accepts(exchange)) {
      ByteRanges.of(range, found.length());
      return new StreamedBody(
          200,
          Headers.sendable(found.type()),
          Optional::empty,
          headers,
          OptionalLong.of(found.length()),
          new SourceParts(List.of(() -> attachments.plain(database, found))));
    }
    ByteRanges.of(range, found.storedLength());
    headers.add(new Reply.Header(HttpHeaders.CONTENT_ENCODING, GZIP));
    return whole(database, found).with(headers);
  }

  private static boolean accepts(Exchange exchange) {
    return AcceptedEncodings.of(exchange.request().headers().getAll(HttpHeaders.ACCEPT_ENCODING))
        .include(GZIP);
  }

  private StreamedBody plain(DatabaseRequest database, Attachment found, String header) {
    ByteRanges ranges = ByteRanges.of(header, found.length());
    StreamedBody body =
        switch (ranges.all().size()) {
          case 0 -> whole(database, found);
          case 1 -> part(database, found, ranges.all().get(0));
          default -> parts(database, found, ranges.all());
        };
    return body.with(List.of(new Reply.Header(HttpHeaders.ACCEPT_RANGES, "bytes")));
  }

  private StreamedBody whole(DatabaseRequest database, Attachment found) {
    return StreamedBody.ofLength(
        found.storedLength(),
        Headers.sendable(found.type()),
        List.of(
            new Reply.Header("Content-MD5", found.md5().base64()),
            new Reply.Header("Repr-Digest", "sha-256=:" + found.content().base64() + ":")),
        bytes(database, found, 0, found.storedLength()));
  }

  private StreamedBody part(DatabaseRequest database, Attachment found, ByteRanges.Part part) {
    return StreamedBody.ofLength(
            part.length(),
            Headers.sendable(found.type()),
            List.of(new Reply.Header(HttpHeaders.CONTENT_RANGE, part.contentRange(found.length()))),
            bytes(database, found, part.from(), part.end()))
        .withStatus(PARTIAL);
  }

  private StreamedBody parts(
      DatabaseRequest database, Attachment found, List<ByteRanges.Part> parts) {
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

  private PagedBody bytes(DatabaseRequest database, Attachment found, long from, long end) {
    return new SourceParts(List.of(() -> attachments.stored(database, found, from, end)));
  }

  /** Bytes of one source after the other, a piece at a time. */
  private static final class SourceParts implements PagedBody {
    /** Enough bytes for a part of the answer: two or three chunks. */
    private static final int PART_BYTES = 128 << 10;

    private final Deque<Supplier<ByteSource>> waiting;
    private ByteSource current = () -> new byte[0];
    private byte[] ahead = new byte[0];

    /**
     * @param sources each opened when those before it are read
     */
    SourceParts(List<Supplier<ByteSource>> sources) {
      this.waiting = new ArrayDeque<>(sources);
    }

    /** Bytes that are known. */
    static Supplier<ByteSource> text(String latin1) {
      return () -> new Once(latin1.getBytes(StandardCharsets.ISO_8859_1));
    }

    @Override
    public boolean appendNext(JsonBuffer out) {
      int enough = out.length() + PART_BYTES;
      out.raw(ahead.length > 0 ? ahead : next());
      ahead = next();
      while (ahead.length > 0 && out.length() < enough) {
        out.raw(ahead);
        ahead = next();
      }
      return ahead.length > 0;
    }

    @Override
    public long keptBytes() {
      return ahead.length;
    }

    /** Returns none at the end of all sources. */
    private byte[] next() {
      byte[] bytes = current.next();
      while (bytes.length == 0 && !waiting.isEmpty()) {
        current = waiting.remove().get();
        bytes = current.next();
      }
      return bytes;
    }

    private static final class Once implements ByteSource {
      private byte[] bytes;

      Once(byte[] bytes) {
        this.bytes = bytes;
      }

      @Override
      public byte[] next() {
        byte[] all = bytes;
        bytes = new byte[0];
        return all;
      }
    }
  }
}
