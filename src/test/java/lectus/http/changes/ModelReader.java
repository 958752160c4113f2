package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import lectus.http.changes.FeedHistory.Event;
import lectus.http.changes.FeedHistory.Feed;
import lectus.http.changes.FeedHistory.Life;
import lectus.http.testing.SocketClient;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonObject;
import lectus.revision.EditBranch;

/**
 * A client that keeps documents as it is told, across all of its connections, and what the history
 * says it has to be told. It begins anew when its database or its stored feed does.
 */
final class ModelReader {
  /** A limit of stored feeds: a document in more channels is in none. */
  private static final int MAX_CHANNELS = 100;

  /** Hex digits of a point. */
  static final int POINT = 24;

  private static final String NOW = "now";

  private final FeedHistory history;
  final String id;
  final Scope scope;
  final Show show;

  /** A subscription's position as the server told it, and the same as a point. */
  String since = "0";

  String point = "";

  private String end = "";

  /** Databases of which it is still to be told that its feed was deleted. */
  private final Set<String> removed = new HashSet<>();

  /** Lives of databases of which it is still to be told that they, or later ones, are over. */
  private final Set<Life> ended = new HashSet<>();

  /** Where this life of the reader began, and when that was. */
  String begun = "";

  private String begunAt = "";

  /** What the client has, by database and document. */
  private final Map<String, Set<String>> has = new TreeMap<>();

  private final Map<String, Told> told = new HashMap<>();

  /**
   * The databases that are read.
   *
   * @param one whether the subscription names one database
   * @param byMember whether somebody reads whose rights come and go, and not an admin
   */
  record Scope(boolean one, String json, Predicate<String> includes, boolean byMember) {
    static Scope ofOne(String name, boolean byMember) {
      return new Scope(true, '"' + name + '"', name::equals, byMember);
    }

    /** The name of the only database. */
    String name() {
      return json.replace("\"", "");
    }
  }

  /**
   * What is read of them.
   *
   * @param feed empty: all changes
   * @param channels empty of a feed with a selector
   * @param ids of the only documents; empty: of all
   * @param withDocuments whether rows have their documents
   */
  record Show(
      String feed, Set<String> channels, boolean left, Set<String> ids, boolean withDocuments) {
    static final Show EVERYTHING = of("", Set.of(), false);

    static Show of(String feed, Set<String> channels, boolean left) {
      return new Show(feed, channels, left, Set.of(), false);
    }

    boolean has(String doc) {
      return ids.isEmpty() || ids.contains(doc);
    }

    boolean isOfFeed() {
      return !feed.isEmpty();
    }
  }

  /** A row. */
  record Told(String db, String doc, String rev, boolean deleted, boolean left) {}

  /** How a document stands to what is read after an event. */
  private enum Standing {
    MEMBER,
    BESIDE,
    NONE
  }

  ModelReader(FeedHistory history, String id, Scope scope, Show show) {
    this.history = history;
    this.id = id;
    this.scope = scope;
    this.show = show;
  }

  /** Notes that a stored feed is removed: whoever has begun must hear of that. */
  void feedRemoved(Life life, String feed) {
    boolean reads = show.feed().equals(feed) && !point.isEmpty();
    if (reads && scope.includes().test(life.name) && (scope.one() || maySee(life))) {
      removed.add(life.name);
    }
  }

  /** Notes that a right is taken away: nothing of the database need be told any more. */
  void shut(Life life) {
    if (scope.byMember() && !scope.one()) {
      removed.remove(life.name);
    }
  }

  /** Notes that a database is deleted: whoever could read it must hear of that. */
  void databaseDeleted(Life life) {
    removed.remove(life.name);
    if (scope.includes().test(life.name) && hasReached(life) && (scope.one() || maySee(life))) {
      ended.add(life);
    }
  }

  /** Of one database, a position of any of its lives will do. */
  private boolean hasReached(Life life) {
    return scope.one() ? !point.isEmpty() : point.compareTo(life.made.to()) > 0;
  }

  private boolean maySee(Life life) {
    return !scope.byMember() || life.isForMembers();
  }

  /** Begins with what comes from now on; where that is, the first answer tells. */
  void beginNow() {
    beginAnew();
    since = NOW;
  }

  /** Begins at the beginning, with nothing. */
  void beginAnew() {
    removed.clear();
    ended.clear();
    since = "0";
    point = "";
    begun = "";
    begunAt = history.now();
    has.clear();
    told.clear();
  }

  /** Begins at a position, with what it would have had then. */
  void beginAt(String position) {
    beginAnew();
    beginFrom(position);
  }

  private void beginFrom(String position) {
    since = position;
    point = position.substring(position.length() - POINT);
    begun = point;
    history.lives().stream()
        .filter(it -> scope.one() && scope.includes().test(it.name))
        .filter(it -> it.isOver() && it.ended.to().compareTo(point) > 0)
        .forEach(ended::add);
    for (Life life : livesRead()) {
      life.documents.forEach(
          (doc, events) -> {
            Map.Entry<String, Event> at = events.floorEntry(point);
            if (at != null
                && show.has(doc)
                && feedOf(life).filter(it -> it.definedAt.compareTo(point) < 0).isPresent()
                && standing(at.getValue()) == Standing.MEMBER
                && !at.getValue().isDeleted()) {
              ofDatabase(life.name).add(doc);
            }
          });
    }
  }

  private Set<String> ofDatabase(String db) {
    return has.computeIfAbsent(db, none -> new HashSet<>());
  }

  void takeRow(String db, JsonObject row) {
    String seq = SocketClient.text(row, "seq");
    String at = seq.substring(seq.length() - POINT);
    boolean left = isTrue(row, "left");
    boolean deleted = isTrue(row, "deleted");
    String doc = SocketClient.text(row, "id");
    JsonArray changes = (JsonArray) row.get("changes").orElseThrow();
    String rev = SocketClient.text((JsonObject) changes.elements().get(0), "rev");
    Told before = told.put(at, new Told(db, doc, rev, deleted, left));
    assertThat(before).as("%s is told twice: %s", this, row).isNull();
    assertThat(mayHaveSeen(db, at)).as("%s may not see %s of %s", this, row, db).isTrue();
    if (show.withDocuments() && !left) {
      JsonObject document = (JsonObject) row.get("doc").orElseThrow();
      assertThat(SocketClient.text(document, "_rev")).as("%s: %s", this, row).isEqualTo(rev);
    }
    if (left || deleted) {
      ofDatabase(db).remove(doc);
    } else {
      ofDatabase(db).add(doc);
    }
  }

  private boolean mayHaveSeen(String db, String at) {
    return !scope.byMember()
        || history.lives().stream().anyMatch(it -> it.name.equals(db) && it.wasForMembersFrom(at));
  }

  void takeLeft(String db, String at) {
    removed.remove(db);
    has.remove(db);
    if (scope.one()) {
      ended.clear();
    } else {
      List<Life> over =
          history.lives().stream()
              .filter(it -> it.name.equals(db) && it.isOver())
              .filter(it -> it.ended.from().compareTo(at) < 0)
              .toList();
      assertThat(over)
          .as("%s: the database %s is over at %s", this, db, at)
          .anyMatch(it -> it.ended.has(at));
      assertThat(over).as("%s may hear of %s", this, db).anyMatch(this::maySee);
      over.forEach(ended::remove);
    }
  }

  private static boolean isTrue(JsonObject row, String member) {
    return row.get(member)
        .filter(it -> it instanceof JsonValue.JsonBool flag && flag.value())
        .isPresent();
  }

  /**
   * @param strictly whether it has to lie behind the last one
   */
  void moveTo(String at, boolean strictly) {
    assertThat(at).as("%s: a position", this).isNotEqualTo(NOW);
    String next = at.equals("0") ? "" : at.substring(at.length() - POINT);
    if (since.equals(NOW) && !next.isEmpty()) {
      beginFrom(at);
    } else if (strictly) {
      assertThat(next).as("%s: a row's position", this).isGreaterThan(point);
    } else {
      assertThat(next).as("%s: its position goes back", this).isGreaterThanOrEqualTo(point);
    }
    point = next;
    since = at;
  }

  /** Notes when it asks for what comes from then on. */
  void asks() {
    begunAt = since.equals(NOW) ? history.now() : begunAt;
  }

  /** Notes that it has been told everything up to a point. */
  void checkTo(String at) {
    end = at;
  }

  List<Life> livesRead() {
    return history.lives().stream()
        .filter(it -> !it.isOver() && scope.includes().test(it.name))
        .toList();
  }

  /** Returns the stored feed of a database that is shown; empty if there is none. */
  private Optional<Feed> feedOf(Life life) {
    return show.isOfFeed() ? life.feed(show.feed()) : Optional.of(new Feed(null, ""));
  }

  /** Compares what it was told with what it has to be told, once it has caught up. */
  void check() {
    if (!end.isEmpty()) {
      assertThat(removed).as("%s: not told that its feed was deleted", this).isEmpty();
      assertThat(ended).as("%s: not told that databases are over", this).isEmpty();
    }
    Map<String, Told> permitted = new TreeMap<>();
    Map<String, Told> due = new TreeMap<>();
    for (Life life : history.lives()) {
      if (scope.includes().test(life.name)) {
        life.documents.forEach((doc, events) -> compute(life, doc, events, permitted, due));
      }
    }
    told.forEach(
        (at, row) ->
            assertThat(row)
                .as("%s: a row at %s%s", this, at, story(row.db(), row.doc()))
                .isEqualTo(permitted.get(at)));
    due.forEach(
        (at, row) ->
            assertThat(told.get(at))
                .as("%s: lost at %s%s", this, at, story(row.db(), row.doc()))
                .isEqualTo(row));
    if (!end.isEmpty()) {
      livesRead().forEach(this::checkDocuments);
    }
  }

  /** Returns what happened to a document, for people. */
  private String story(String db, String doc) {
    StringBuilder story = new StringBuilder();
    for (Life life : history.lives()) {
      if (life.name.equals(db)) {
        life.feeds.forEach(it -> story.append("\n").append(it));
        life.documents
            .getOrDefault(doc, new TreeMap<>())
            .values()
            .forEach(it -> story.append("\n").append(it).append(told.get(it.at())));
      }
    }
    return story.toString();
  }

  private void compute(
      Life life,
      String doc,
      NavigableMap<String, Event> events,
      Map<String, Told> permitted,
      Map<String, Told> due) {
    if (!show.has(doc)) {
      return;
    }
    Told newest = null;
    String at = "";
    Event before = null;
    for (Event event : events.values()) {
      Optional<Told> row = row(life, doc, before, event);
      row.ifPresent(it -> permitted.put(event.at(), it));
      if (standing(event) != Standing.NONE || departs(life, before, event)) {
        newest = row.orElse(null);
        at = event.at();
      }
      boolean isForgotten =
          standing(event) == Standing.NONE
              && feedOf(life).filter(it -> event.at().compareTo(it.definedAt) < 0).isPresent();
      newest = event.isPurge() || isForgotten ? null : newest;
      before = event;
    }
    boolean isBehind = at.compareTo(begun) > 0 && at.compareTo(end) <= 0;
    if (newest != null && isBehind && !life.isOver() && isDue(life, at)) {
      due.put(at, newest);
    }
  }

  /**
   * Many databases show a feed's documents only from its definition on, and what a user was not
   * allowed to see only to those who begin later.
   */
  private boolean isDue(Life life, String at) {
    return feedOf(life)
        .filter(
            feed ->
                scope.one()
                    || at.compareTo(feed.definedAt) > 0
                    || begunAt.compareTo(feed.definedAt) > 0)
        .filter(feed -> scope.one() || !scope.byMember() || isSeenSince(life, at))
        .isPresent();
  }

  private boolean isSeenSince(Life life, String at) {
    return life.forMembersSince()
        .filter(it -> at.compareTo(it) > 0 || begunAt.compareTo(it) >= 0)
        .isPresent();
  }

  /** Whether the user could see all of a database and of those that had its name before. */
  private boolean hasSeenAll(Life life) {
    return !scope.byMember()
        || scope.one()
        || history.lives().stream()
            .filter(it -> it.name.equals(life.name))
            .filter(it -> it == life || it.ended.to().compareTo(begunAt) > 0)
            .allMatch(
                it ->
                    it.forMembersSince()
                        .filter(from -> from.compareTo(begunAt) <= 0 || it.isUntouchedAt(from))
                        .isPresent());
  }

  /** Returns the row that tells of an event, if one does. */
  private Optional<Told> row(Life life, String doc, Event before, Event event) {
    if (event.isPurge() || feedOf(life).isEmpty()) {
      return Optional.empty();
    }
    Standing standing = standing(event);
    Told plain = new Told(life.name, doc, event.winner(), event.isDeleted(), false);
    Told departure = new Told(life.name, doc, event.winner(), event.isDeleted(), true);
    if (standing == Standing.MEMBER) {
      return Optional.of(plain);
    }
    if (standing == Standing.NONE && !departs(life, before, event)) {
      return Optional.empty();
    }
    boolean isDeletion = event.isDeleted() && !show.channels().isEmpty();
    return show.left() ? Optional.of(departure) : Optional.of(plain).filter(it -> isDeletion);
  }

  /** Whether a feed notes that the document leaves one of the channels: from its definition on. */
  private boolean departs(Life life, Event before, Event event) {
    return before != null
        && !before.isPurge()
        && !event.isPurge()
        && show.isOfFeed()
        && life.feeds.stream()
            .filter(it -> it.stored.definition().name().equals(show.feed()))
            .filter(it -> event.at().compareTo(it.definedAt) > 0)
            .anyMatch(it -> it.removedAt == null || event.at().compareTo(it.removedAt) < 0)
        && !channels(before).keySet().stream()
            .filter(it -> isRead(it) && !channels(event).containsKey(it))
            .toList()
            .isEmpty();
  }

  private Standing standing(Event event) {
    if (event.isPurge()) {
      return Standing.NONE;
    }
    if (!show.isOfFeed()) {
      return Standing.MEMBER;
    }
    Map<String, Boolean> channels = channels(event);
    List<String> shown = channels.keySet().stream().filter(this::isRead).toList();
    if (shown.isEmpty()) {
      return Standing.NONE;
    }
    return shown.stream().anyMatch(channels::get) ? Standing.MEMBER : Standing.BESIDE;
  }

  private boolean isRead(String channel) {
    return channel.isEmpty() || show.channels().contains(channel);
  }

  /** Returns the channels of a document, and whether its winner is in each. */
  private Map<String, Boolean> channels(Event event) {
    Map<String, Boolean> channels = new HashMap<>();
    boolean winner = true;
    for (EditBranch leaf : event.leaves()) {
      for (String channel : channels(leaf.leaf().toString())) {
        channels.putIfAbsent(channel, winner);
      }
      winner = false;
    }
    return channels.size() > MAX_CHANNELS ? Map.of() : channels;
  }

  private Set<String> channels(String rev) {
    if (!show.channels().isEmpty()) {
      return Content.of(rev).channels();
    }
    return Content.of(rev).n() > 1 ? Set.of("") : Set.of();
  }

  private void checkDocuments(Life life) {
    Optional<Feed> feed = feedOf(life);
    if (feed.isEmpty() || !hasSeenAll(life)) {
      return;
    }
    boolean hasAllSince = feed.get().definedAt.compareTo(begun) <= 0;
    Set<String> shown = new LinkedHashSet<>();
    Set<String> open = new HashSet<>();
    life.documents.forEach(
        (doc, events) -> {
          Event last = events.lastEntry().getValue();
          if (show.has(doc) && standing(last) == Standing.MEMBER && !last.isDeleted()) {
            shown.add(doc);
          }
          boolean isPurged = events.tailMap(begun).values().stream().anyMatch(Event::isPurge);
          boolean tellsLess = show.isOfFeed() && !show.left();
          boolean isUnknown = last.at().compareTo(begun) <= 0 && !hasAllSince;
          if (isPurged || tellsLess || isUnknown || !isDue(life, last.at())) {
            open.add(doc);
          }
        });
    Set<String> kept = new HashSet<>(ofDatabase(life.name));
    kept.removeAll(open);
    shown.removeAll(open);
    assertThat(kept)
        .as(
            () ->
                "%s: keeps documents of %s%s"
                    .formatted(this, life.name, stories(life, kept, shown)))
        .isEqualTo(shown);
  }

  private String stories(Life life, Set<String> kept, Set<String> shown) {
    return life.documents.keySet().stream()
        .filter(doc -> kept.contains(doc) != shown.contains(doc))
        .map(doc -> "\n" + doc + story(life.name, doc))
        .collect(Collectors.joining());
  }

  @Override
  public String toString() {
    return id
        + (scope.byMember() ? ", a member, of " : " of ")
        + scope.json()
        + " shows "
        + show
        + " since "
        + begun
        + " at "
        + point;
  }

  /** What a revision of the model has: it follows from its hash. */
  record Content(int mask, int n, int number) {
    static final List<String> CHANNELS = List.of("red", "blue", "green", "ä\u0000");
    private static final int WIDE = 60;

    static Content of(String rev) {
      String hash = rev.substring(rev.indexOf('-') + 1);
      return new Content(
          Integer.parseInt(hash, 0, 2, 16),
          Integer.parseInt(hash, 2, 4, 16),
          Integer.parseInt(hash, 4, 12, 16));
    }

    String hash() {
      return "%02x%02x%08x%020x".formatted(mask, n, number, 0);
    }

    Set<String> channels() {
      Set<String> channels = new LinkedHashSet<>();
      for (int i = 0; i < CHANNELS.size(); i++) {
        if ((mask & 1 << i) != 0) {
          channels.add(CHANNELS.get(i));
        }
      }
      for (int i = 0; i < WIDE && isWide(); i++) {
        channels.add("w" + number % 2 + "-" + i);
      }
      return channels;
    }

    /** Two such leaves, one of an odd number, are in too many channels; so few are ever left. */
    private boolean isWide() {
      return (mask & 0x80) != 0;
    }

    String json() {
      List<String> names = new ArrayList<>();
      channels().forEach(it -> names.add('"' + it.replace("\u0000", "\\u0000") + '"'));
      return "\"n\":" + n + ",\"x\":{\"ch\":[" + String.join(",", names) + "]}";
    }
  }
}
