package lectus.http.changes;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import lectus.changes.notify.DatabaseSet;
import lectus.changes.notify.StorePosition;
import lectus.changes.page.ChangesReader;
import lectus.changes.page.FeedPosition;
import lectus.changes.page.Since;
import lectus.database.DatabaseName;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.changes.LiveListener.FeedTerms;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;

/** The messages of a client in {@code lectus.changes.v1}, one text message each. */
sealed interface ClientMessage {

  /**
   * {@code {"type":"subscribe",…}}.
   *
   * @param id the client's name for the subscription, which every message about it repeats
   * @param options what its rows show
   * @param credits the number of rows that may be sent before the client grants more; empty: not
   *     counted
   */
  record Subscribe(
      String id, Scope scope, ChangesOptions options, FeedTerms terms, OptionalLong credits)
      implements ClientMessage {}

  /**
   * {@code {"type":"credit","id":"a","n":500}}: the client accepts so many more rows.
   *
   * @param rows 1 to {@link Subscription#MAX_CREDITS}
   */
  record Credit(String id, long rows) implements ClientMessage {}

  /** {@code {"type":"unsubscribe","id":"a"}}. */
  record Unsubscribe(String id) implements ClientMessage {}

  /**
   * Any other message.
   *
   * @param id of the subscription that it concerns, if that could be read
   */
  record Malformed(Optional<String> id, LectusError error) implements ClientMessage {}

  /** The databases of a subscription, and the position at which it begins. */
  sealed interface Scope {
    /** Returns the approximate memory, in bytes, of the databases' names. */
    long memory();
  }

  /**
   * {@code "db":"x"}.
   *
   * @param since as in {@code _changes}
   */
  record OneDatabase(DatabaseName name, Since<FeedPosition> since) implements Scope {
    @Override
    public long memory() {
      return 0;
    }
  }

  /**
   * {@code "db":"user-*"} or {@code "db":["x","user-*"]}. Compiling a long list takes too long for
   * an event loop, so the thread that opens the subscription does it.
   *
   * @param since as in {@code _db_updates}
   */
  record ManyNames(List<String> namesAndPatterns, Since<StorePosition> since) implements Scope {
    static final int MAX_NAMES = 10_000;

    /** The most patterns; every database that is written is compared with each of them. */
    static final int MAX_PATTERNS = 1_000;

    /**
     * Bytes for each name beside its text: its objects, and entries in the maps that find a
     * database's listeners.
     */
    private static final long BYTES_EACH = 400;

    /**
     * @throws LectusException {@code bad_request}: more than a subscription may have
     */
    public ManyNames {
      namesAndPatterns = List.copyOf(namesAndPatterns);
      long patterns = namesAndPatterns.stream().filter(DatabaseSet::isPattern).count();
      if (patterns > MAX_PATTERNS) {
        throw LectusException.badRequest("`db` may have " + MAX_PATTERNS + " patterns.");
      }
      if (namesAndPatterns.size() - patterns > MAX_NAMES) {
        throw LectusException.badRequest("`db` may have " + MAX_NAMES + " names.");
      }
    }

    /**
     * Not for an event loop.
     *
     * @throws LectusException {@code illegal_database_name}
     */
    DatabaseSet compile() {
      return DatabaseSet.of(namesAndPatterns);
    }

    /** Compiled or not. */
    @Override
    public long memory() {
      return namesAndPatterns.stream().mapToLong(text -> BYTES_EACH + text.length()).sum();
    }
  }

  /**
   * Never throws because of the client's input: a message that cannot be understood is {@link
   * Malformed}.
   */
  static ClientMessage parse(byte[] utf8) {
    Optional<String> id = Optional.empty();
    try {
      if (!(JsonValue.parse(utf8) instanceof JsonObject object)) {
        throw LectusException.badRequest("A message must be a JSON object.");
      }
      if (object.get("id").orElse(null) instanceof JsonString text && Members.isId(text.value())) {
        id = Optional.of(text.value());
      }
      return new Members(object).message();
    } catch (LectusException e) {
      return new Malformed(id, e.error());
    }
  }

  /** The members of one message, by type; another type is a {@code bad_request}. */
  record Members(JsonObject object) {
    /** The longest id, in UTF-16 units; every row repeats it. */
    static final int LONGEST_ID = 128;

    private static final long DEFAULT_HEARTBEAT_MILLIS = 60_000;

    /** Some 24 days: more than any timer needs. */
    private static final long LONGEST_HEARTBEAT_MILLIS = Integer.MAX_VALUE;

    private static final Set<String> OF_SUBSCRIBE =
        Stream.concat(
                Stream.of("type", "id", "db", "since", "limit", "heartbeat", "credits"),
                ChangesOptions.MEMBERS.stream())
            .collect(Collectors.toUnmodifiableSet());

    private static final Set<String> OF_CREDIT = Set.of("type", "id", "n");
    private static final Set<String> OF_UNSUBSCRIBE = Set.of("type", "id");

    private ClientMessage message() {
      return switch (text("type").orElseThrow(() -> missing("type"))) {
        case "subscribe" -> subscribe();
        case "credit" -> {
          expectOnly(OF_CREDIT);
          long rows = number("n", 1, Subscription.MAX_CREDITS).orElseThrow(() -> missing("n"));
          yield new Credit(id(), rows);
        }
        case "unsubscribe" -> {
          expectOnly(OF_UNSUBSCRIBE);
          yield new Unsubscribe(id());
        }
        default ->
            throw LectusException.badRequest("`type` must be subscribe, credit or unsubscribe.");
      };
    }

    private Subscribe subscribe() {
      expectOnly(OF_SUBSCRIBE);
      String id = id();
      Scope scope = scope();
      ChangesOptions options = ChangesOptions.ofMessage(this);
      if (scope instanceof ManyNames && options.function().isPresent()) {
        throw LectusException.badRequest(
            "A `filter` is of the design document of one database; `selector` filters many.");
      }
      long limit = number("limit", 0, ChangesReader.NO_LIMIT).orElse(ChangesReader.NO_LIMIT);
      FeedTerms terms = new FeedTerms(limit, heartbeat(), OptionalLong.empty());
      return new Subscribe(
          id, scope, options, terms, number("credits", 0, Subscription.MAX_CREDITS));
    }

    private String id() {
      return text("id")
          .map(
              id -> {
                if (!isId(id)) {
                  throw LectusException.badRequest(
                      "`id` must be a string of 1 to " + LONGEST_ID + " characters.");
                }
                return id;
              })
          .orElseThrow(() -> missing("id"));
    }

    private static boolean isId(String id) {
      return !id.isEmpty() && id.length() <= LONGEST_ID;
    }

    private Scope scope() {
      JsonValue db = get("db").orElseThrow(() -> missing("db"));
      String since = since();
      if (db instanceof JsonString name) {
        return name.value().indexOf('*') < 0
            ? new OneDatabase(DatabaseName.of(name.value()), FeedPosition.since(since))
            : new ManyNames(List.of(name.value()), StorePosition.since(since));
      }
      if (db instanceof JsonArray array && !array.elements().isEmpty()) {
        List<String> names = new ArrayList<>(array.elements().size());
        array.elements().forEach(element -> names.add(text("db", element)));
        return new ManyNames(names, StorePosition.since(since));
      }
      throw LectusException.badRequest(
          "`db` must be the name of a database, a pattern such as \"user-*\", or a list of these.");
    }

    /** {@code 0} may be a number, as CouchDB's clients send it. */
    private String since() {
      boolean isZero =
          get("since").orElse(null) instanceof JsonNumber number && number.text().equals("0");
      return isZero ? "0" : text("since").orElse("0");
    }

    /**
     * {@code true} is the default interval, as in {@code _changes}; {@code false} means no
     * heartbeats.
     */
    private OptionalLong heartbeat() {
      if (get("heartbeat").orElse(null) instanceof JsonBool wanted) {
        return wanted.value() ? OptionalLong.of(DEFAULT_HEARTBEAT_MILLIS) : OptionalLong.empty();
      }
      return number("heartbeat", 1, LONGEST_HEARTBEAT_MILLIS);
    }

    /**
     * Rejects unknown members: a misspelt option would be ignored, and the client would get rows
     * that it did not ask for.
     */
    private void expectOnly(Set<String> known) {
      for (String name : object.members().keySet()) {
        if (!known.contains(name)) {
          throw LectusException.badRequest("A message of this type has no member `" + name + "`.");
        }
      }
    }

    boolean has(String name) {
      return object.members().containsKey(name);
    }

    Optional<JsonValue> get(String name) {
      return object.get(name);
    }

    Optional<String> text(String name) {
      return get(name).map(value -> text(name, value));
    }

    private static String text(String name, JsonValue value) {
      if (value instanceof JsonString text) {
        return text.value();
      }
      throw LectusException.badRequest("`" + name + "` must be a string.");
    }

    /** Returns false if there is none. */
    boolean flag(String name) {
      JsonValue value = get(name).orElseGet(() -> new JsonBool(false));
      if (value instanceof JsonBool flag) {
        return flag.value();
      }
      throw LectusException.badRequest("`" + name + "` must be true or false.");
    }

    private OptionalLong number(String name, long least, long most) {
      Optional<JsonValue> value = get(name);
      if (value.isEmpty()) {
        return OptionalLong.empty();
      }
      try {
        String text = value.get() instanceof JsonNumber written ? written.text() : "";
        long number = Long.parseLong(text);
        if (number >= least && number <= most) {
          return OptionalLong.of(number);
        }
      } catch (NumberFormatException e) {
        // Told like a number out of bounds.
      }
      throw LectusException.badRequest(
          "`" + name + "` must be a whole number from " + least + " to " + most + ".");
    }

    private static LectusException missing(String name) {
      return LectusException.badRequest("`" + name + "` is missing.");
    }
  }
}
