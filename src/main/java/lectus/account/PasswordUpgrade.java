package lectus.account;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.database.DatabaseRequest;
import lectus.database.UserContext;
import lectus.document.edit.DocumentParser;
import lectus.document.edit.Edit;
import lectus.document.edit.NamedRevisions;
import lectus.document.read.DocumentQuery;
import lectus.document.read.DocumentReader;
import lectus.document.write.DocumentWriter;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;

/**
 * Replaces the hash of a password that has just been right by one of the current scheme. The salt
 * remains, and with it the cookies that were signed with it.
 */
record PasswordUpgrade(
    Admins admins,
    DocumentReader documents,
    DocumentParser parser,
    DocumentWriter writer,
    int iterations) {

  boolean isNeededBy(PasswordHash hash) {
    return !(hash instanceof Pbkdf2Hash pbkdf2 && pbkdf2.isCurrent(iterations));
  }

  /**
   * Takes time. If the account changes meanwhile it remains as it is.
   *
   * @param matched what the password was compared with
   */
  void run(StoredAccount account, PasswordHash matched, String password) {
    String name = account.user().name().orElseThrow();
    if (account.isAdmin()) {
      String hash = Pbkdf2Hash.of(password, matched.salt(), iterations).text();
      admins.replace(name, matched.text(), hash);
    } else {
      upgradeDocument(UserDocuments.idOf(name), matched, password);
    }
  }

  private void upgradeDocument(String id, PasswordHash matched, String password) {
    JsonBuffer out = new JsonBuffer(512);
    documents.read(DatabaseRequest.byServer(UserDocuments.USERS), id, DocumentQuery.DEFAULT, out);
    JsonObject stored = (JsonObject) JsonValue.parse(out.toBytes());
    if (PasswordHash.of(stored).equals(Optional.of(matched))) {
      Edit edit =
          parser
              .interactive(id, NamedRevisions.NONE, withPassword(stored, password))
              .by(UserContext.SERVER);
      writer.write(UserDocuments.USERS, List.of(NewPassword.hashed(edit, parser, iterations)));
    }
  }

  private static byte[] withPassword(JsonObject stored, String password) {
    Map<String, JsonValue> members = new LinkedHashMap<>(stored.members());
    members.put("password", new JsonString(password));
    members.put("preserve_salt", new JsonBool(true));
    JsonBuffer out = new JsonBuffer(512);
    new JsonObject(members).writeTo(out);
    return out.toBytes();
  }
}
