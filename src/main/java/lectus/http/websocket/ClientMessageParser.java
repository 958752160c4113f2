package lectus.http.websocket;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;
import lectus.changes.multi.StorePosition.StoreSince;
import lectus.changes.page.ChangesReader;
import lectus.changes.page.Since;
import lectus.database.DatabaseName;
import lectus.error.LectusException;
import lectus.http.websocket.ClientMessage.Credit;
import lectus.http.websocket.ClientMessage.Malformed;
import lectus.http.websocket.ClientMessage.Subscribe;
import lectus.http.websocket.ClientMessage.Unsubscribe;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;

/** Reads the text messages of {@code lectus.changes.v1}. */
final class ClientMessageParser {
  /** The longest id, in UTF-16 units; every row repeats it. */
  static final int LONGEST_ID = 128;

  static final long DEFAULT_HEARTBEAT_MILLIS = 60_000;

  /** Some 24 days: more than any timer needs. */
  static final long LONGEST_HEARTBEAT_MILLIS = Integer.MAX_VALUE;

  private static final Set<String> OF_SUBSCRIBE =
      Set.of(
          "type",
          "id",
          "db",
          "since",
          "include_docs",
          "conflicts",
          "style",
          "selector",
          "doc_ids",
          "feed",
          "channels",
          "left",
          "fields",
          "limit",
          "heartbeat",
          "credits");
  private static final Set<String> OF_CREDIT = Set.of("type", "id", "n");
  private static final Set<String> OF_UNSUBSCRIBE = Set.of("type", "id");

  private ClientMessageParser() {}

  /**
   * Never throws because of the client's input: a message that cannot be understood is {@link
   * Malformed}.
   */
  static ClientMessage parse(byte[] utf8) {
    JsonObject message;
    try {
      message = object(utf8);
    } catch (LectusException e) {
      return new Malformed(Optional.empty(), e.error());
    }
    try {
      return parse(new MessageMembers(message));
    } catch (LectusException e) {
      return new Malformed(idOf(message), e.error());
    }
  }

  private static JsonObject object(byte[] utf8) {
    if (JsonValue.parse(utf8) instanceof JsonObject object) {
      return object;
    }
    throw LectusException.badRequest("A message must be a JSON object.");
  }

  /** Returns the id of a message with an error elsewhere. */
  private static Optional<String> idOf(JsonObject message) {
    return message.get("id").orElse(null) instanceof JsonString id && isId(id.value())
        ? Optional.of(id.value())
        : Optional.empty();
  }

  private static ClientMessage parse(MessageMembers message) {
    String type =
        message.text("type").orElseThrow(() -> LectusException.badRequest("`type` is missing."));
    return switch (type) {
      case "subscribe" -> subscribe(message);
      case "credit" -> credit(message);
      case "unsubscribe" -> unsubscribe(message);
      default ->
          throw LectusException.badRequest("`type` must be subscribe, credit or unsubscribe.");
    };
  }

  private static Credit credit(MessageMembers message) {
    message.expectOnly(OF_CREDIT);
    long rows =
        message
            .number("n", 1, Credits.MOST)
            .orElseThrow(() -> LectusException.badRequest("`n` is missing."));
    return new Credit(id(message), rows);
  }

  private static Unsubscribe unsubscribe(MessageMembers message) {
    message.expectOnly(OF_UNSUBSCRIBE);
    return new Unsubscribe(id(message));
  }

  private static Subscribe subscribe(MessageMembers message) {
    message.expectOnly(OF_SUBSCRIBE);
    return new Subscribe(id(message), scope(message), terms(message));
  }

  private static String id(MessageMembers message) {
    String id =
        message.text("id").orElseThrow(() -> LectusException.badRequest("`id` is missing."));
    if (!isId(id)) {
      throw LectusException.badRequest(
          "`id` must be a string of 1 to " + LONGEST_ID + " characters.");
    }
    return id;
  }

  private static boolean isId(String id) {
    return !id.isEmpty() && id.length() <= LONGEST_ID;
  }

  private static Scope scope(MessageMembers message) {
    JsonValue db =
        message.get("db").orElseThrow(() -> LectusException.badRequest("`db` is missing."));
    String since = since(message);
    if (db instanceof JsonString name) {
      return name.value().indexOf('*') < 0
          ? new Scope.OneDatabase(DatabaseName.of(name.value()), Since.parse(since))
          : many(List.of(name.value()), since);
    }
    if (db instanceof JsonArray names && !names.elements().isEmpty()) {
      return many(MessageMembers.texts("db", names), since);
    }
    throw LectusException.badRequest(
        "`db` must be the name of a database, a pattern such as \"user-*\", or a list of these.");
  }

  private static Scope many(List<String> namesAndPatterns, String since) {
    return new Scope.ManyDatabases(new WrittenDatabases(namesAndPatterns), StoreSince.parse(since));
  }

  /** {@code 0} may be a number, as CouchDB's clients send it. */
  private static String since(MessageMembers message) {
    Optional<JsonValue> since = message.get("since");
    if (since.orElse(null) instanceof JsonNumber number && number.text().equals("0")) {
      return "0";
    }
    return message.text("since").orElse("0");
  }

  private static Terms terms(MessageMembers message) {
    return new Terms(
        options(message),
        message.number("limit", 0, ChangesReader.NO_LIMIT).orElse(ChangesReader.NO_LIMIT),
        heartbeat(message),
        message.number("credits", 0, Credits.MOST));
  }

  private static WrittenOptions options(MessageMembers message) {
    long filters = Stream.of("selector", "doc_ids", "feed").filter(message::has).count();
    if (filters > 1) {
      throw LectusException.badRequest(
          "A subscription has one of `selector`, `doc_ids` and `feed`.");
    }
    return new WrittenOptions(
        allLeaves(message),
        message.flag("include_docs"),
        message.flag("conflicts"),
        message.get("selector"),
        message.get("doc_ids"),
        WrittenFeed.of(message),
        message.get("fields"));
  }

  private static boolean allLeaves(MessageMembers message) {
    return switch (message.text("style").orElse("main_only")) {
      case "main_only" -> false;
      case "all_docs" -> true;
      default -> throw LectusException.badRequest("The style should be main_only or all_docs");
    };
  }

  /**
   * {@code true} is the default interval, as in {@code _changes}; {@code false} means no
   * heartbeats.
   */
  private static OptionalLong heartbeat(MessageMembers message) {
    if (message.get("heartbeat").orElse(null) instanceof JsonBool wanted) {
      return wanted.value() ? OptionalLong.of(DEFAULT_HEARTBEAT_MILLIS) : OptionalLong.empty();
    }
    return message.number("heartbeat", 1, LONGEST_HEARTBEAT_MILLIS);
  }
}
