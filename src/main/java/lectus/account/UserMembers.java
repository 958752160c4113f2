package lectus.account;

import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import lectus.database.DatabaseHandle;
import lectus.document.DocumentJson;
import lectus.document.read.Projection.FieldsReader;
import lectus.json.ExplodedBody;
import lectus.json.FieldPath;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/**
 * The members of a user's document that mean something to the server.
 *
 * @param isConflicted whether the document has another live revision
 */
record UserMembers(JsonObject members, boolean isConflicted) {
  private static final List<FieldPath> FIELDS =
      Stream.of(
              "name",
              "roles",
              "type",
              "password_scheme",
              "password_sha",
              "pbkdf2_prf",
              "derived_key",
              "iterations",
              "salt",
              "totp")
          .map(FieldPath::parse)
          .toList();

  /** Reads the live winner of a document; empty if there is none. */
  static Optional<UserMembers> read(ReadTransaction tx, DatabaseHandle db, String docId) {
    return read(tx, db, docId, FIELDS);
  }

  static Optional<UserMembers> read(
      ReadTransaction tx, DatabaseHandle db, String docId, List<FieldPath> fields) {
    List<EditBranch> branches = Awaiting.await(new RevisionsSubspace(db).winnerAndNext(tx, docId));
    if (branches.isEmpty() || branches.get(0).deleted()) {
      return Optional.empty();
    }
    JsonBuffer out = new JsonBuffer(512);
    new FieldsReader(tx, db).append(docId, false, branches.get(0).leaf(), fields, out);
    DocumentJson.close(out);
    boolean isConflicted = branches.size() > 1 && !branches.get(1).deleted();
    return Optional.of(new UserMembers(object(out.toBytes()), isConflicted));
  }

  static JsonObject of(ExplodedBody body) {
    JsonBuffer out = new JsonBuffer(512).octet('{');
    body.appendTo(out);
    return object(out.octet('}').toBytes());
  }

  private static JsonObject object(byte[] json) {
    return (JsonObject) JsonValue.parse(json);
  }

  /** Returns the roles that are texts and no system's. */
  Set<String> roles() {
    return textsIn(members, "roles").stream()
        .filter(role -> !UserDocumentRule.isReserved(role))
        .collect(Collectors.toSet());
  }

  static Set<String> textsIn(JsonObject members, String name) {
    return Set.copyOf(members.get(name).map(JsonValue::texts).orElse(List.of()));
  }

  /** Returns the password with which one logs in; empty if nobody can. */
  Optional<PasswordHash> password() {
    return isConflicted ? Optional.empty() : storedPassword();
  }

  Optional<PasswordHash> disputedPassword() {
    return isConflicted ? storedPassword() : Optional.empty();
  }

  private Optional<PasswordHash> storedPassword() {
    boolean wantsSecondFactor = members.get("totp").isPresent();
    return wantsSecondFactor ? Optional.empty() : PasswordHash.of(members);
  }
}
