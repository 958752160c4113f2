package lectus.http.websocket;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import lectus.http.testing.Answer;
import lectus.http.testing.Member;
import lectus.http.testing.SocketClient;
import lectus.http.websocket.FeedHistory.Life;
import lectus.http.websocket.ModelReader.Scope;
import lectus.http.websocket.ModelReader.Show;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;

/** What an admin reads without a socket: page by page, newest first, and what databases do. */
final class ModelPolls {
  private static final List<String> FORMS =
      List.of("normal", "longpoll", "continuous", "eventsource");

  /** Hex digits of a commit's version in a point. */
  private static final int COMMIT = 20;

  private final Member admin;
  private final FeedHistory history;
  private final Random random;

  ModelPolls(Member admin, FeedHistory history, Random random) {
    this.admin = admin;
    this.history = history;
    this.random = random;
  }

  static JsonObject json(String text) {
    return (JsonObject) JsonValue.parse(text.getBytes(StandardCharsets.UTF_8));
  }

  private static List<JsonValue> elements(JsonObject object, String member) {
    return ((JsonValue.JsonArray) object.get(member).orElseThrow()).elements();
  }

  private static String textOf(JsonValue value) {
    return ((JsonValue.JsonString) value).value();
  }

  private static String point(JsonObject row) {
    String seq = SocketClient.text(row, "seq");
    return seq.substring(seq.length() - ModelReader.POINT);
  }

  private static String query(Show show) {
    StringBuilder query = new StringBuilder();
    if (show.isOfFeed()) {
      query.append("&filter=_feed/").append(show.feed()).append("&left=").append(show.left());
    }
    for (String channel : show.channels()) {
      query.append("&channel=").append(URLEncoder.encode(channel, StandardCharsets.UTF_8));
    }
    return query.toString();
  }

  private JsonObject get(String target) {
    return json(admin.get(target).body());
  }

  /** Reads newest first in one of the forms, which then ends; sometimes with a limit. */
  private List<JsonObject> newestFirst(String target) {
    String form = FORMS.get(random.nextInt(FORMS.size()));
    List<JsonObject> all = rows(form, target);
    List<String> points = all.stream().map(ModelPolls::point).toList();
    List<String> ordered = new ArrayList<>(new TreeSet<>(points));
    Collections.reverse(ordered);
    assertThat(points).as("%s of %s, newest first", form, target).isEqualTo(ordered);
    // The updates log may be compacted between two reads.
    if (target.contains("/_changes") && random.nextInt(3) == 0) {
      int limit = 1 + random.nextInt(5);
      assertThat(rows(form, target + "&limit=" + limit))
          .as("the first %s rows of %s", limit, all)
          .isEqualTo(all.subList(0, Math.min(limit, all.size())));
    }
    return all;
  }

  private List<JsonObject> rows(String form, String target) {
    String body = admin.get(target + "&descending=true&feed=" + form).body();
    List<JsonObject> rows = new ArrayList<>();
    if (form.equals("normal") || form.equals("longpoll")) {
      assertThat(SocketClient.text(json(body), "last_seq")).as(body).isNotNull();
      elements(json(body), "results").forEach(it -> rows.add((JsonObject) it));
      return rows;
    }
    boolean isEvents = form.equals("eventsource");
    body.lines()
        .filter(line -> line.startsWith(isEvents ? "data: {" : "{"))
        .map(line -> json(line.substring(line.indexOf('{'))))
        .forEach(rows::add);
    if (!isEvents) {
      JsonObject end = rows.remove(rows.size() - 1);
      assertThat(SocketClient.text(end, "last_seq")).as(body).isNotNull();
    }
    rows.removeIf(it -> it.get("seq").isEmpty());
    return rows;
  }

  /** Reads all changes of a database, newest first. */
  void readBack(String name, Show show) {
    ModelReader reader = new ModelReader(history, "back", Scope.ofOne(name, false), show);
    reader.beginAnew();
    List<JsonObject> rows = newestFirst("/" + name + "/_changes?since=0" + query(show));
    for (int i = rows.size() - 1; i >= 0; i--) {
      reader.takeRow(name, rows.get(i));
    }
    reader.checkTo(history.now());
    reader.check();
  }

  /** A client that asks page by page: for a database, or for each of its changes shards. */
  final class Pages {
    final ModelReader reader;
    private final boolean ofShards;

    /** Positions, by the end of the path. */
    private final Map<String, String> positions = new TreeMap<>();

    private final Set<String> read = new TreeSet<>();

    /** Places whose positions are from before the feed was removed. */
    private final Set<String> removed = new TreeSet<>();

    Pages(ModelReader reader, boolean ofShards) {
      this.reader = reader;
      this.ofShards = ofShards;
      beginAnew();
    }

    private String path() {
      return "/" + reader.scope.name() + "/_changes";
    }

    void beginAnew() {
      reader.beginAnew();
      positions.clear();
      read.clear();
      removed.clear();
      if (ofShards) {
        for (JsonValue each : elements(get(path() + "/_meta"), "generations")) {
          List<JsonValue> shards = elements((JsonObject) each, "shards");
          if (positions.isEmpty()) {
            shards.forEach(it -> positions.put("/" + textOf(it), "0"));
          }
        }
      } else {
        positions.put("", "0");
      }
    }

    void feedRemoved(String feed) {
      if (reader.show.feed().equals(feed)) {
        positions.forEach((place, at) -> removed.addAll(at.equals("0") ? Set.of() : Set.of(place)));
      }
    }

    /** Reads a page; returns whether something may follow. */
    boolean poll(int limit) {
      List<String> all = List.copyOf(positions.keySet());
      String place = all.get(random.nextInt(all.size()));
      String target = path() + place + "?limit=" + limit + "&since=" + positions.get(place);
      Answer answer = admin.get(target + query(reader.show));
      assertThat(answer.status()).as("%s", answer).isEqualTo(removed.contains(place) ? 412 : 200);
      if (removed.contains(place)) {
        beginAnew();
        return true;
      }
      JsonObject page = json(answer.body());
      List<JsonValue> rows = elements(page, "results");
      rows.forEach(row -> reader.takeRow(reader.scope.name(), (JsonObject) row));
      positions.put(place, SocketClient.text(page, "last_seq"));
      page.get("resharded").ifPresent(next -> goOn(place, (JsonObject) next));
      return !rows.isEmpty() || page.get("resharded").isPresent();
    }

    private void goOn(String place, JsonObject next) {
      positions.remove(place);
      read.add(place);
      for (JsonValue shard : elements(next, "shards")) {
        if (!read.contains("/" + textOf(shard))) {
          positions.putIfAbsent("/" + textOf(shard), SocketClient.text(next, "seq"));
        }
      }
    }

    /** Reads all that is there. */
    void finish() {
      int silent = 0;
      while (silent < 12 * positions.size()) {
        silent = poll(100) ? 0 : silent + 1;
      }
      reader.checkTo(history.now());
      reader.check();
    }
  }

  /** A client of {@code _db_updates}. */
  final class Updates {
    private final String begun;
    private final List<JsonObject> rows = new ArrayList<>();
    private String since;

    Updates() {
      begun = history.now();
      since = SocketClient.text(get("/_db_updates?since=now&limit=1"), "last_seq");
    }

    /** Reads a page; returns whether something may follow. */
    boolean poll(int limit) {
      JsonObject page = get("/_db_updates?since=" + since + "&limit=" + limit);
      for (JsonValue each : elements(page, "results")) {
        JsonObject row = (JsonObject) each;
        assertThat(point(row)).as("a point of _db_updates").isGreaterThan(since);
        since = point(row);
        rows.add(row);
      }
      return !elements(page, "results").isEmpty();
    }

    void finish() {
      while (poll(100)) {}
      history.lives().forEach(this::check);
      rows.forEach(
          row -> assertThat(history.lives()).as("%s", row).anyMatch(life -> mayBeTold(row, life)));
      checkBack();
    }

    private boolean mayBeTold(JsonObject row, Life life) {
      return life.name.equals(SocketClient.text(row, "db_name"))
          && switch (SocketClient.text(row, "type")) {
            case "created" -> life.made.has(point(row));
            case "updated" ->
                point(row).compareTo(life.made.from()) > 0
                    && (!life.isOver() || point(row).compareTo(life.ended.to()) <= 0);
            case "deleted" -> life.isOver() && life.ended.has(point(row));
            default -> false;
          };
    }

    /** A life's creation and last change are told as long as it lasts, then its end or a later. */
    private void check(Life life) {
      List<JsonObject> its =
          rows.stream().filter(it -> life.name.equals(SocketClient.text(it, "db_name"))).toList();
      assertThat(its)
          .as("rows of %s behind %s", life, begun)
          .anyMatch(
              it ->
                  life.isOver()
                      ? SocketClient.text(it, "type").equals("deleted")
                          && point(it).compareTo(life.ended.from()) > 0
                      : SocketClient.text(it, "type").equals("created")
                          && life.made.has(point(it)));
      Optional<String> last =
          life.documents.values().stream()
              .map(it -> it.lastEntry().getValue())
              .filter(it -> !it.isPurge())
              .map(it -> it.at().substring(0, COMMIT))
              .max(String::compareTo);
      last.ifPresent(
          at ->
              assertThat(its)
                  .as("the last change of %s", life.name)
                  .anyMatch(it -> point(it).substring(0, COMMIT).compareTo(at) >= 0));
    }

    /** Newest first, each database comes last what it did last. */
    private void checkBack() {
      Map<String, JsonObject> newest = new TreeMap<>();
      rows.forEach(it -> newest.put(SocketClient.text(it, "db_name"), it));
      Set<String> seen = new HashSet<>();
      for (JsonObject row : newestFirst("/_db_updates?limit=300")) {
        String name = SocketClient.text(row, "db_name");
        if (newest.containsKey(name) && seen.add(name)) {
          assertThat(row).as("the newest of %s", name).isEqualTo(newest.get(name));
        }
      }
      assertThat(seen).isEqualTo(newest.keySet());
    }
  }
}
