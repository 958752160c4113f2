package lectus.clients.replicator;

import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.Map;

/** A document with its attachments as {@code couch_httpd_multipart:encode_multipart_stream}. */
record RelatedBody(String contentType, byte[] bytes) {
  private static final String BOUNDARY = "5d41402abc4b2a76b9719d911017c592";
  private static final String DELIMITER = "\r\n--" + BOUNDARY;

  static RelatedBody of(ReplicatedDocument document) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    write(out, "--" + BOUNDARY + "\r\nContent-Type: application/json\r\n\r\n");
    write(out, document.toJson().encode() + DELIMITER);
    Iterator<byte[]> parts = document.parts().iterator();
    for (Map.Entry<String, Object> entry : document.attached()) {
      JsonObject attachment = (JsonObject) entry.getValue();
      if (attachment.getBoolean("follows", false)) {
        byte[] bytes = parts.next();
        write(out, head(entry.getKey(), attachment, bytes.length));
        out.writeBytes(bytes);
        write(out, DELIMITER);
      }
    }
    write(out, "--");
    return new RelatedBody("multipart/related; boundary=\"" + BOUNDARY + '"', out.toByteArray());
  }

  private static String head(String name, JsonObject attachment, int length) {
    String encoding = attachment.getString("encoding");
    return "\r\nContent-Disposition: attachment; filename=\""
        + name
        + "\"\r\nContent-Type: "
        + attachment.getString("content_type")
        + "\r\nContent-Length: "
        + length
        + (encoding == null ? "" : "\r\nContent-Encoding: " + encoding)
        + "\r\n\r\n";
  }

  private static void write(ByteArrayOutputStream out, String text) {
    out.writeBytes(text.getBytes(StandardCharsets.UTF_8));
  }
}
