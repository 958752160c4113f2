package lectus.account;

import com.apple.foundationdb.ReadTransaction;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.UserContext;
import lectus.document.DocumentId;
import lectus.document.edit.DocumentParser;
import lectus.document.edit.Edit;
import lectus.document.edit.InteractiveEdit;
import lectus.document.edit.LocalEdit;
import lectus.document.edit.PurgeEdit;
import lectus.error.LectusError;
import lectus.json.FieldPath;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonNull;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;

/**
 * Documents that describe replications: in which databases they are, who owns them, and what others
 * see of them. As in CouchDB, whoever writes one owns it, and only its owner and admins see the
 * passwords in it. Since a replication uses databases of this store with the rights that its
 * document names, nobody but a server admin can name rights of others, or change what runs with
 * them.
 */
public final class ReplicatorDocuments {
  /** The database whose documents are replications, as are those of each {@code …/_replicator}. */
  public static final DatabaseName REPLICATOR = DatabaseName.of("_replicator");

  /** Maximum size of such a document, as JSON. */
  public static final int MAX_DOCUMENT_BYTES = 1 << 20;

  private static final String OWNER = "owner";
  private static final String USER = "user_ctx";
  private static final List<FieldPath> OWNER_FIELD = List.of(FieldPath.parse(OWNER));
  private static final List<String> ENDPOINTS =
      List.of("source", "target", "proxy", "source_proxy", "target_proxy");
  private static final List<String> SECRET = List.of("headers", "auth");

  /** A URL up to its host, with a name or a password. */
  private static final Pattern CREDENTIALS =
      Pattern.compile("^([A-Za-z][A-Za-z0-9+.-]*://)[^/?#]*@");

  private ReplicatorDocuments() {}

  public static boolean areIn(DatabaseName name) {
    return name.equals(REPLICATOR) || name.text().endsWith("/" + REPLICATOR.text());
  }

  /** Whether it is one of them that an edit of their database is about. */
  private static boolean isAbout(Edit edit) {
    return !(edit instanceof LocalEdit)
        && !(edit instanceof PurgeEdit)
        && !DocumentId.isDesign(edit.id());
  }

  /** Whether a client's edit makes or changes the description of a replication. */
  public static boolean describes(DatabaseName database, Edit edit) {
    return areIn(database) && edit instanceof InteractiveEdit && isAbout(edit) && !edit.deleted();
  }

  /**
   * Returns the edit with its author as the owner, if it names none. An admin may write in the name
   * of another. The replication runs with the rights of the owner's account; so if the author came
   * with others, by a token for example, the document says with which it runs.
   *
   * @param accounts finds the account of a name
   */
  public static Edit owned(
      Edit edit,
      boolean isAdmin,
      Function<String, Optional<UserContext>> accounts,
      DocumentParser parser) {
    JsonObject members = UserMembers.of(edit.body());
    Optional<JsonValue> owner = members.get(OWNER);
    boolean isNobodys = isAdmin && owner.filter(JsonNull.class::isInstance).isPresent();
    Map<String, JsonValue> owned = new LinkedHashMap<>(members.members());
    if (owner.isEmpty() || isNobodys) {
      owned.put(OWNER, nameOf(edit.by()));
    }
    if (owned.get(OWNER).equals(nameOf(edit.by()))
        && members.get(USER).isEmpty()
        && edit.by().name().isPresent()
        && !accounts.apply(edit.by().name().get()).equals(Optional.of(edit.by()))) {
      owned.put(USER, rightsOf(edit.by()));
    }
    return owned.equals(members.members())
        ? edit
        : parser.rewritten(edit, new JsonObject(owned).toBytes());
  }

  private static JsonValue rightsOf(UserContext user) {
    Map<String, JsonValue> context = new LinkedHashMap<>();
    context.put("name", nameOf(user));
    context.put(
        "roles",
        new JsonArray(user.roles().stream().sorted().<JsonValue>map(JsonString::new).toList()));
    return new JsonObject(context);
  }

  private static JsonValue nameOf(UserContext user) {
    return user.name().<JsonValue>map(JsonString::new).orElseGet(JsonNull::new);
  }

  /** Returns why an edit in a database of replications is not allowed. */
  static Optional<LectusError> problem(
      ReadTransaction tx, DatabaseHandle db, Edit edit, boolean isAdmin) {
    if (edit.body().jsonBytes() > MAX_DOCUMENT_BYTES) {
      return Optional.of(
          new LectusError.TooLarge(
              "document_too_large",
              "The document of a replication takes %s bytes, the limit is %s."
                  .formatted(edit.body().jsonBytes(), MAX_DOCUMENT_BYTES)));
    }
    // Who runs with whose rights is no matter of one database's admins.
    boolean isTrusted = edit.by().isServerAdmin() || (isAdmin && edit.deleted());
    if (isTrusted || !isAbout(edit)) {
      return Optional.empty();
    }
    JsonObject members = UserMembers.of(edit.body());
    boolean isOthers =
        isOthers(edit.by(), members.get(OWNER))
            || isOthers(edit.by(), stored(tx, db, edit.id()).flatMap(it -> it.get(OWNER)));
    return isOthers
        ? Optional.of(
            new LectusError.Forbidden("Can't update replication documents from other users."))
        : members.get(USER).flatMap(named -> problemOf(named, edit.by()));
  }

  /**
   * Returns why a client's edit describes no replication, as in CouchDB only if the client has it
   * begun.
   */
  static Optional<LectusError> fault(
      Edit edit, Function<JsonObject, Optional<String>> replications) {
    if (!(edit instanceof InteractiveEdit)
        || edit.deleted()
        || !isAbout(edit)
        || edit.by().equals(UserContext.SERVER)) {
      return Optional.empty();
    }
    JsonObject members = UserMembers.of(edit.body());
    boolean hasFailed = members.textOf("_replication_state").filter("failed"::equals).isPresent();
    return hasFailed
        ? Optional.empty()
        : replications.apply(members).map(LectusError.Forbidden::new);
  }

  private static Optional<JsonObject> stored(ReadTransaction tx, DatabaseHandle db, String id) {
    return UserMembers.read(tx, db, id, OWNER_FIELD).map(UserMembers::members);
  }

  private static boolean isOthers(UserContext user, Optional<JsonValue> owner) {
    return owner.isPresent() && !owner.get().equals(nameOf(user));
  }

  /** Returns why somebody may not let a replication run as {@code user_ctx}. */
  private static Optional<LectusError> problemOf(JsonValue named, UserContext user) {
    if (!(named instanceof JsonObject context)) {
      return forbidden("The `user_ctx` property must be a non-null object.");
    }
    if (!context.get("name").orElseGet(JsonNull::new).equals(nameOf(user))) {
      return forbidden("The given `user_ctx.name` is not valid");
    }
    JsonValue roles = context.get("roles").orElseGet(() -> new JsonArray(List.of()));
    if (!(roles instanceof JsonArray array)) {
      return forbidden("The `user_ctx.roles` property must be an array of strings.");
    }
    for (JsonValue role : array.elements()) {
      if (!(role instanceof JsonString text) || text.value().isEmpty()) {
        return forbidden("The `user_ctx.roles` property must be an array of strings.");
      }
      if (!user.roles().contains(text.value())) {
        return forbidden("Invalid role (`" + text.value() + "`) in the `user_ctx`");
      }
    }
    return Optional.empty();
  }

  private static Optional<LectusError> forbidden(String reason) {
    return Optional.of(new LectusError.Forbidden(reason));
  }

  /** Returns the owner of a document; empty if it names nobody. */
  public static Optional<String> ownerOf(JsonObject document) {
    return document.textOf(OWNER);
  }

  /**
   * Returns as whom a replication uses databases of this store, as its document says; empty if it
   * leaves that to the owner's account.
   */
  public static Optional<UserContext> userOf(JsonObject document) {
    return document
        .get(USER)
        .filter(JsonObject.class::isInstance)
        .map(
            user -> {
              JsonObject context = (JsonObject) user;
              return new UserContext(context.textOf("name"), UserMembers.textsIn(context, "roles"));
            });
  }

  /** Returns what somebody who is no admin sees of a document; its owner sees all of it. */
  public static JsonBuffer shownTo(UserContext user, byte[] json) {
    JsonObject document = (JsonObject) JsonValue.parse(json);
    boolean isOwn = user.name().isPresent() && ownerOf(document).equals(user.name());
    JsonBuffer out = new JsonBuffer(json.length);
    (isOwn ? document : withoutCredentials(document)).writeTo(out);
    return out;
  }

  private static JsonObject withoutCredentials(JsonObject document) {
    Map<String, JsonValue> shown = new LinkedHashMap<>(document.members());
    ENDPOINTS.forEach(name -> shown.computeIfPresent(name, (same, it) -> withoutCredentials(it)));
    return new JsonObject(shown);
  }

  private static JsonValue withoutCredentials(JsonValue endpoint) {
    if (endpoint instanceof JsonString url) {
      return new JsonString(withoutCredentials(url.value()));
    }
    if (!(endpoint instanceof JsonObject described)) {
      return endpoint;
    }
    Map<String, JsonValue> shown = new LinkedHashMap<>(described.members());
    SECRET.forEach(shown::remove);
    shown.computeIfPresent("url", (same, url) -> withoutCredentials(url));
    return new JsonObject(shown);
  }

  /** Returns a URL without the name and the password in it. */
  public static String withoutCredentials(String url) {
    return CREDENTIALS.matcher(url).replaceFirst("$1");
  }
}
