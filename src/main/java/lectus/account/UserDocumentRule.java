package lectus.account;

import com.apple.foundationdb.ReadTransaction;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import lectus.account.PasswordHash.Pbkdf2Hash;
import lectus.database.DatabaseHandle;
import lectus.database.SecurityObject;
import lectus.database.UserContext;
import lectus.database.UserContext.DatabaseRight;
import lectus.document.DocumentId;
import lectus.document.edit.Edit;
import lectus.document.edit.LocalEdit;
import lectus.document.edit.ReplicatedEdit;
import lectus.document.write.WriteRules.EditRule;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonNull;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;

/**
 * Who may write which document: design documents are for the admins of their database, and the
 * documents of {@code _users} and of {@code _replicator} follow the rules of CouchDB 3.5, with
 * CouchDB's sentences. In CouchDB a design document {@code _auth} has those of users as a function.
 */
public final class UserDocumentRule implements EditRule {
  /** Maximum size of a user's document, as JSON. Log-ins read it. */
  static final int MAX_DOCUMENT_BYTES = 1 << 20;

  static final int MAX_NAME_BYTES = 256;
  static final int MAX_ROLES = 1_000;
  static final int MAX_ROLE_BYTES = 256;

  private static final String METRICS = "_metrics";
  private static final Set<String> SCHEMES = Set.of("simple", "pbkdf2", "simple+pbkdf2");

  private final UserRights rights;
  private final int mostIterations;
  private final Function<JsonObject, Optional<String>> replications;

  /**
   * @param replications says why something describes no replication
   */
  public UserDocumentRule(
      AccountSettings settings, Function<JsonObject, Optional<String>> replications) {
    this.replications = replications;
    this.rights = new UserRights(settings.defaultSecurity());
    this.mostIterations = settings.mostUserIterations();
  }

  /** Whether a role is one that no document gives. */
  static boolean isReserved(String role) {
    return role.startsWith("_") && !role.equals(METRICS);
  }

  @Override
  public Optional<LectusError> refusal(DatabaseHandle db, Edit edit) {
    UserContext user = edit.by();
    DatabaseRight right = rights.of(user, db);
    if (right == DatabaseRight.ADMIN) {
      return Optional.empty();
    }
    if (right == DatabaseRight.NONE) {
      // It was a member's request when it began; a body may take its time.
      return Optional.of(user.notMember());
    }
    if (DocumentId.isDesign(edit.id())) {
      return Optional.of(user.notAdmin());
    }
    return UserDocuments.areIn(db.name()) && !UserDocuments.mayWrite(user, edit.id())
        ? Optional.of(new LectusError.NotFound("missing"))
        : Optional.empty();
  }

  @Override
  public Optional<LectusError> problem(ReadTransaction tx, DatabaseHandle db, Edit edit) {
    if (!db.name().mayHaveSystemDocuments()) {
      return Optional.empty();
    }
    if (ReplicatorDocuments.areIn(db.name())) {
      boolean isAdmin = rights.of(edit.by(), db) == DatabaseRight.ADMIN;
      return ReplicatorDocuments.problem(tx, db, edit, isAdmin)
          .or(() -> ReplicatorDocuments.fault(edit, replications));
    }
    if (!UserDocuments.areIn(db.name())) {
      return Optional.empty();
    }
    try {
      check(tx, db, edit);
      return Optional.empty();
    } catch (LectusException broken) {
      return Optional.of(broken.error());
    }
  }

  private void check(ReadTransaction tx, DatabaseHandle db, Edit edit) {
    checkSize(edit);
    JsonObject members = UserMembers.of(edit.body());
    checkHasNoPassword(members);
    boolean isUser = !(edit instanceof LocalEdit) && !DocumentId.isDesign(edit.id());
    if (isUser && db.name().equals(UserDocuments.USERS)) {
      checkUser(tx, db, edit, members);
    }
  }

  static void checkSize(Edit edit) {
    if (edit.body().jsonBytes() > MAX_DOCUMENT_BYTES) {
      throw LectusException.tooLarge(
          "document_too_large",
          "The document of a user takes %s bytes, the limit is %s."
              .formatted(edit.body().jsonBytes(), MAX_DOCUMENT_BYTES));
    }
  }

  /** Whatever brought the edit here should have replaced the password by its hash. */
  private static void checkHasNoPassword(JsonObject members) {
    if (NewPassword.isIn(members)) {
      throw LectusException.forbidden("A password is not stored in the clear.");
    }
  }

  private void checkUser(ReadTransaction tx, DatabaseHandle db, Edit edit, JsonObject members) {
    boolean isAdmin = rights.of(edit.by(), db) == DatabaseRight.ADMIN;
    Optional<UserMembers> stored = isAdmin ? Optional.empty() : UserMembers.read(tx, db, edit.id());
    if (edit.deleted() || edit instanceof ReplicatedEdit) {
      checkSettlesNothing(stored);
    }
    if (edit.deleted()) {
      checkDeletion(edit);
      return;
    }
    requires(isText(members, "type", "user"), "doc.type must be user");
    String name =
        members
            .textOf("name")
            .filter(text -> !text.isEmpty())
            .orElseThrow(() -> LectusException.forbidden("doc.name is required"));
    Set<String> roles = roles(members);
    requires(
        edit.id().equals(UserDocuments.idOf(name)),
        "Doc ID must be of the form org.couchdb.user:name");
    checkPassword(members);
    if (!isAdmin) {
      checkByUser(edit.by(), name, roles, stored);
      checkIterations(members, stored);
    }
    requires(
        roles.stream().noneMatch(UserDocumentRule::isReserved),
        "No system roles (starting with underscore) in users db.");
    checkName(name);
  }

  private static void checkDeletion(Edit edit) {
    boolean isOwn =
        edit.by().name().isPresent() && UserDocuments.nameIn(edit.id()).equals(edit.by().name());
    requires(edit.by().isServerAdmin() || isOwn, "Only admins may delete other user docs.");
  }

  /**
   * Of several live revisions, another may win after a deletion or a revision made elsewhere, with
   * roles that this rule never sees.
   */
  private static void checkSettlesNothing(Optional<UserMembers> stored) {
    requires(
        !stored.map(UserMembers::isConflicted).orElse(false),
        "Only admins may delete or replicate a user doc in conflict.");
  }

  private static Set<String> roles(JsonObject members) {
    JsonValue roles = members.get("roles").orElse(new JsonNull());
    requires(isTrue(roles), "doc.roles must exist");
    requires(roles instanceof JsonArray, "doc.roles must be an array");
    List<JsonValue> elements = ((JsonArray) roles).elements();
    requires(
        elements.stream().allMatch(JsonString.class::isInstance),
        "doc.roles can only contain strings");
    requires(elements.size() <= MAX_ROLES, "doc.roles has more than " + MAX_ROLES + " elements");
    Set<String> texts = UserMembers.textsIn(members, "roles");
    requires(
        texts.stream().allMatch(role -> bytes(role) <= MAX_ROLE_BYTES),
        "doc.roles has a role of more than " + MAX_ROLE_BYTES + " bytes");
    return texts;
  }

  private static void checkPassword(JsonObject members) {
    requires(
        !isTrue(members, "password_sha") || isTrue(members, "salt"),
        "Users with password_sha must have a salt.");
    if (isTrue(members, "password_scheme")) {
      requires(
          SCHEMES.contains(members.textOf("password_scheme").orElse("")),
          "Password scheme not supported.");
    }
    if (isText(members, "password_scheme", "pbkdf2")) {
      requires(
          members.get("iterations").filter(JsonNumber.class::isInstance).isPresent(),
          "iterations must be a number.");
      requires(members.textOf("derived_key").isPresent(), "derived_key must be a string.");
    }
  }

  /** Whoever is not logged in may register, and change nobody who is there already. */
  private static void checkByUser(
      UserContext user, String name, Set<String> roles, Optional<UserMembers> stored) {
    if (stored.isEmpty()) {
      requires(roles.isEmpty(), "Only _admin may set roles");
    } else {
      requires(
          user.name().equals(Optional.of(name)), "You may only update your own user document.");
      requires(
          roles.equals(UserMembers.textsIn(stored.get().members(), "roles")),
          "Only _admin may edit roles");
    }
  }

  /** Each log-in with the name takes that long. */
  private void checkIterations(JsonObject members, Optional<UserMembers> stored) {
    Optional<PasswordHash> hash = PasswordHash.of(members);
    boolean isSlow =
        hash.isPresent()
            && hash.get() instanceof Pbkdf2Hash pbkdf2
            && pbkdf2.iterations() > mostIterations;
    requires(
        !isSlow || stored.flatMap(it -> PasswordHash.of(it.members())).equals(hash),
        "Only _admin may set more than " + mostIterations + " iterations");
  }

  private static void checkName(String name) {
    requires(!name.startsWith("_"), "Username may not start with underscore.");
    requires(name.indexOf(':') < 0, "Character `:` is not allowed in usernames.");
    requires(bytes(name) <= MAX_NAME_BYTES, "doc.name has more than " + MAX_NAME_BYTES + " bytes");
  }

  private static int bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8).length;
  }

  private static void requires(boolean holds, String otherwise) {
    if (!holds) {
      throw LectusException.forbidden(otherwise);
    }
  }

  private static boolean isText(JsonObject members, String name, String text) {
    return members.textOf(name).equals(Optional.of(text));
  }

  private static boolean isTrue(JsonObject members, String name) {
    return members.get(name).map(UserDocumentRule::isTrue).orElse(false);
  }

  /** Whether JavaScript takes a value for true. */
  private static boolean isTrue(JsonValue value) {
    if (value instanceof JsonBool bool) {
      return bool.value();
    }
    if (value instanceof JsonString text) {
      return !text.value().isEmpty();
    }
    return !(value instanceof JsonNull)
        && !(value instanceof JsonNumber number && Double.parseDouble(number.text()) == 0);
  }

  /**
   * What users may do with databases. Each user may reach {@code _users} while its security was
   * never set, because the user's own document is there.
   *
   * @param unset applies to other databases whose security was never set
   */
  public record UserRights(SecurityObject unset) {

    /** Returns what a user may do, as of the handle's transaction. */
    public DatabaseRight of(UserContext user, DatabaseHandle db) {
      if (user.isServerAdmin()) {
        return DatabaseRight.ADMIN;
      }
      if (db.security().isEmpty() && db.name().equals(UserDocuments.USERS)) {
        return user.name().isPresent() ? DatabaseRight.MEMBER : DatabaseRight.NONE;
      }
      return db.security().orElse(unset).rightOf(user);
    }
  }
}
