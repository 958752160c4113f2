package lectus.http.admin;

import lectus.error.LectusException;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;

/** A value of CouchDB's configuration, which is always a string. */
final class ConfigText {
  private ConfigText() {}

  /**
   * @throws LectusException {@code bad_request}: no JSON string
   */
  static String of(byte[] body) {
    if (JsonValue.parse(body) instanceof JsonValue.JsonString text) {
      return text.value().strip();
    }
    throw LectusException.badRequest("a JSON string expected");
  }

  static Reply reply(String value) {
    return Reply.json(200, new JsonBuffer(128).string(value));
  }
}
