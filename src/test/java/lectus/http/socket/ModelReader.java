package lectus.http.socket;

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
import lectus.http.socket.FeedHistory.Event;
import lectus.http.socket.FeedHistory.Feed;
import lectus.http.socket.FeedHistory.Life;
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
  private static final int MOST_CHANNELS = 100;

  /** Hex digits of a point. */
  private static final int POINT = 24;

  private final FeedHistory history;
  final String id;
  final Scope scope;
  final Show show;

  /** A subscription's position as the server told it, and the same as a point. */
  String since = "0";

  String point = "";

  private String end = "";

  /** Whether it is still to be told that its feed was deleted. */
  private boolean isOwed;

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
   */
  record Scope(boolean one, String json, Predicate<String> includes) {}

  /**
   * What is read of them.
   *
   * @param feed empty: all changes
   * @param channels empty of a feed with a selector
   */
  record Show(String feed, Set<String> channels, boolean left) {
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

  /** Notes that a stored feed is removed: whoever keeps documents of it must hear of that. */
  void feedRemoved(String db, String feed) {
    isOwed |=
        show.left() && show.feed().equals(feed) && scope.includes().test(db) && !point.isEmpty();
  }

  /** Begins at the beginning, with nothing. */
  void beginAnew() {
    isOwed = false;
    since = "0";
    point = "";
    begun = "";
    begunAt = history.now();
    has.clear();
    told.clear();
  }

  /** Begins at an event of a database, with what it would have had then. */
  void beginAt(String position) {
    beginAnew();
    since = position;
    point = position.substring(position.length() - POINT);
    begun = point;
    for (Life life : livesRead()) {
      life.documents.forEach(
          (doc, events) -> {
            Map.Entry<String, Event> at = events.floorEntry(point);
            if (at != null
                && feedOf(life).isPresent()
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
    if (left || deleted) {
      ofDatabase(db).remove(doc);
    } else {
      ofDatabase(db).add(doc);
    }
  }

  void takeLeft(String db) {
    isOwed = false;
    has.remove(db);
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
    String next = at.equals("0") || at.equals("now") ? "" : at.substring(at.length() - POINT);
    if (strictly) {
      assertThat(next).as("%s: a row's position", this).isGreaterThan(point);
    } else {
      assertThat(next).as("%s: its position goes back", this).isGreaterThanOrEqualTo(point);
    }
    point = next;
    since = at;
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
    assertThat(isOwed).as("%s: not told that its feed was deleted", this).isFalse();
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
    checkDocuments();
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

  /** Many databases show a feed's documents only from its definition on. */
  private boolean isDue(Life life, String at) {
    Optional<Feed> feed = feedOf(life);
    return feed.isPresent()
        && (scope.one()
            || at.compareTo(feed.get().definedAt) > 0
            || begunAt.compareTo(feed.get().definedAt) > 0);
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
    return channels.size() > MOST_CHANNELS ? Map.of() : channels;
  }

  private Set<String> channels(String rev) {
    if (!show.channels().isEmpty()) {
      return Content.of(rev).channels();
    }
    return Content.of(rev).n() > 1 ? Set.of("") : Set.of();
  }

  private void checkDocuments() {
    for (Life life : livesRead()) {
      if (feedOf(life).isEmpty()) {
        continue;
      }
      Set<String> shown = new LinkedHashSet<>();
      Set<String> open = new HashSet<>();
      life.documents.forEach(
          (doc, events) -> {
            Event last = events.lastEntry().getValue();
            if (standing(last) == Standing.MEMBER && !last.isDeleted()) {
              shown.add(doc);
            }
            boolean isPurged = events.tailMap(begun).values().stream().anyMatch(Event::isPurge);
            boolean tellsLess = show.isOfFeed() && !show.left();
            if (isPurged || tellsLess || !isDue(life, last.at())) {
              open.add(doc);
            }
          });
      Set<String> kept = new HashSet<>(ofDatabase(life.name));
      kept.removeAll(open);
      shown.removeAll(open);
      for (String doc : life.documents.keySet()) {
        assertThat(kept.contains(doc))
            .as("%s: keeps %s of %s%s", this, doc, life.name, story(life.name, doc))
            .isEqualTo(shown.contains(doc));
      }
    }
  }

  @Override
  public String toString() {
    return id + " of " + scope.json() + " shows " + show + " since " + begun + " at " + point;
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
