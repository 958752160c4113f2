package lectus.http;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import lectus.error.LectusError;
import lectus.json.JsonBuffer;

/**
 * A whole answer, ready to be sent: created on any thread, sent on the connection's.
 *
 * @param headers in addition to those that every answer has
 */
public record Reply(int status, CharSequence contentType, Buffer body, List<Header> headers) {
  private static final Buffer OK = Buffer.buffer("{\"ok\":true}\n");

  public record Header(CharSequence name, String value) {}

  /** {@code {"ok":true}}. */
  public static Reply ok(int status) {
    return new Reply(status, Headers.JSON, OK, List.of());
  }

  /** No body at all, as in a 304. */
  public static Reply empty(int status) {
    return new Reply(status, null, Buffer.buffer(0), List.of());
  }

  /** The JSON written so far, and the line feed that ends every body. */
  public static Reply json(int status, JsonBuffer json) {
    json.octet('\n');
    Buffer body = Buffer.buffer(json.length()).appendBytes(json.array(), 0, json.length());
    return new Reply(status, Headers.JSON, body, List.of());
  }

  public static Reply json(int status, String json) {
    byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
    Buffer body = Buffer.buffer(bytes.length + 1).appendBytes(bytes).appendByte((byte) '\n');
    return new Reply(status, Headers.JSON, body, List.of());
  }

  public static Reply error(LectusError error) {
    JsonBuffer json = new JsonBuffer(128);
    json.ascii("{\"error\":").string(error.error());
    json.ascii(",\"reason\":").string(error.reason());
    if (error instanceof LectusError.MissingStub missing) {
      json.ascii(",\"missing\":").strings(missing.names());
    }
    json.octet('}');
    Reply reply = json(ErrorStatus.of(error), json);
    if (error instanceof LectusError.MethodNotAllowed notAllowed) {
      return reply.with(Headers.ALLOW, notAllowed.allow());
    }
    if (error instanceof LectusError.RangeNotSatisfiable range) {
      return reply.with(HttpHeaders.CONTENT_RANGE, "bytes */" + range.length());
    }
    if (error instanceof LectusError.UpgradeRequired) {
      return reply
          .with(HttpHeaders.UPGRADE, "websocket")
          .with(HttpHeaders.CONNECTION, "Upgrade")
          .with(Headers.WEBSOCKET_VERSION, Headers.WEBSOCKET_13);
    }
    if (error instanceof LectusError.TooManyRequests tooMany) {
      return reply.retryAfter(tooMany.retryAfterSeconds());
    }
    if (error instanceof LectusError.Unavailable unavailable) {
      return reply.retryAfter(unavailable.retryAfterSeconds());
    }
    return error instanceof LectusError.InDoubt doubt
        ? reply.retryAfter(doubt.retryAfterSeconds())
        : reply;
  }

  private Reply retryAfter(int seconds) {
    return with(Headers.RETRY_AFTER, Integer.toString(seconds));
  }

  public Reply with(CharSequence name, String value) {
    List<Header> more = new ArrayList<>(headers.size() + 2);
    more.addAll(headers);
    more.add(new Header(name, value));
    return new Reply(status, contentType, body, more);
  }

  public Reply redirecting(String location) {
    return new Reply(302, contentType, body, headers).with(Headers.LOCATION, location);
  }

  public Reply withEtag(String tag) {
    return with(Headers.ETAG, new EntityTag(tag).header());
  }
}
