package lectus.document.read;

import static lectus.document.testing.Answers.whole;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseRequest;
import lectus.document.RowParts.PageLimits;
import lectus.document.read.AllDocsQuery.Listing;
import lectus.document.testing.TestDatabase;
import lectus.json.JsonBuffer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Random queries of a list in pages of all sizes, compared with a sorted map. */
class AllDocsModelTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private static final Comparator<String> BY_BYTES =
      (a, b) ->
          Arrays.compareUnsigned(
              a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8));

  /** Ids that are prefixes of each other, and whose UTF-16 order differs from their byte order. */
  private static final List<String> IDS =
      List.of(
          "_design/x",
          "a",
          "a\0",
          "a\0b",
          "a\u0001",
          "aa",
          "ab",
          "b",
          "\"q\"",
          "ü",
          "\uffee",
          "\ud83d\ude00",
          "\ud83d\ude00x",
          "z",
          "Z",
          "~");

  private final Random random = new Random(20_261_121);
  private final TestDatabase db = TestDatabase.create(stores.fresh());

  /** What the list shows of each live document: its revision and its body's member. */
  private final NavigableMap<String, String> live = new TreeMap<>(BY_BYTES);

  private final Map<String, String> tombstones = new LinkedHashMap<>();

  @BeforeEach
  void write() {
    for (int i = 0; i < IDS.size(); i++) {
      String id = IDS.get(i);
      boolean deleted = i % 5 == 4;
      String body = deleted ? "{\"_deleted\":true,\"v\":0}" : "{\"v\":" + i + "}";
      if (i % 3 == 0 && !deleted) {
        db.replicate(id, "{\"v\":\"loser\"}", "1-a");
        db.replicate(id, "{\"_deleted\":true,\"v\":\"tombstone\"}", "9-a");
      }
      db.replicate(id, body, "1-b");
      if (deleted) {
        tombstones.put(id, "1-b");
      } else {
        live.put(id, "" + i);
      }
    }
  }

  @Test
  void every_question_is_answered_as_by_the_model() {
    for (int i = 0; i < 1_500; i++) {
      Question question = question();
      PageLimits pages =
          new PageLimits(1 + random.nextInt(4), 1 + random.nextInt(4), 1 + random.nextInt(300));
      AllDocs lists = new AllDocs(db.catalogue, db.transactions, pages);

      assertThat(
              whole(
                  lists.answer(
                      DatabaseRequest.byServer(db.name),
                      AllDocsQuery.parse(Listing.ALL, question.parameters(), null))))
          .as("question %d: %s, pages of %s", i, question, pages)
          .isEqualTo(answer(question));
    }
  }

  private record Question(
      String start,
      String end,
      List<String> keys,
      boolean inclusive,
      boolean descending,
      int skip,
      int limit,
      boolean docs) {
    Map<String, String> parameters() {
      Map<String, String> parameters = new LinkedHashMap<>();
      if (keys != null) {
        parameters.put(
            "keys", keys.stream().map(Question::json).collect(Collectors.joining(",", "[", "]")));
      }
      if (start != null) {
        parameters.put("startkey", json(start));
      }
      if (end != null) {
        parameters.put("endkey", json(end));
      }
      parameters.put("inclusive_end", "" + inclusive);
      parameters.put("descending", "" + descending);
      parameters.put("skip", "" + skip);
      parameters.put("limit", "" + limit);
      parameters.put("include_docs", "" + docs);
      return parameters;
    }

    static String json(String text) {
      return new JsonBuffer(64).string(text).toString();
    }
  }

  private Question question() {
    List<String> keys = random.nextInt(4) == 0 ? new ArrayList<>() : null;
    for (int i = random.nextInt(6); keys != null && i > 0; i--) {
      keys.add(someId());
    }
    return new Question(
        keys != null || random.nextBoolean() ? null : someId(),
        keys != null || random.nextBoolean() ? null : someId(),
        keys,
        random.nextBoolean(),
        random.nextBoolean(),
        random.nextInt(3) == 0 ? random.nextInt(12) : 0,
        random.nextInt(3) == 0 ? random.nextInt(12) : 100,
        random.nextBoolean());
  }

  private String someId() {
    return random.nextInt(5) == 0 ? "none" : IDS.get(random.nextInt(IDS.size()));
  }

  private String answer(Question question) {
    String offset = question.keys() == null ? "" + offset(question) : "null";
    return "{\"total_rows\":"
        + live.size()
        + ",\"offset\":"
        + offset
        + ",\"rows\":[\r\n"
        + ids(question).stream()
            .skip(question.skip())
            .limit(question.limit())
            .map(id -> row(id, question.docs()))
            .collect(Collectors.joining(",\r\n"))
        + "\r\n]}\n";
  }

  private long offset(Question question) {
    long before =
        question.start() == null
            ? 0
            : live.keySet().stream().filter(id -> isBefore(id, question)).count();
    return Math.min(live.size(), before + question.skip());
  }

  private static boolean isBefore(String id, Question question) {
    int order = BY_BYTES.compare(id, question.start());
    return question.descending() ? order > 0 : order < 0;
  }

  private List<String> ids(Question question) {
    if (question.keys() != null) {
      List<String> keys = new ArrayList<>(question.keys());
      if (question.descending()) {
        Collections.reverse(keys);
      }
      return keys;
    }
    return (question.descending() ? live.descendingMap() : live)
        .keySet().stream()
            .filter(id -> question.start() == null || !isBefore(id, question))
            .filter(id -> question.end() == null || isNotBehind(id, question))
            .toList();
  }

  private static boolean isNotBehind(String id, Question question) {
    int order = BY_BYTES.compare(id, question.end());
    return order == 0 ? question.inclusive() : question.descending() == order > 0;
  }

  private String row(String id, boolean docs) {
    String json = Question.json(id);
    if (live.containsKey(id)) {
      return "{\"id\":"
          + json
          + ",\"key\":"
          + json
          + ",\"value\":{\"rev\":\"1-b\"}"
          + (docs
              ? ",\"doc\":{\"_id\":" + json + ",\"_rev\":\"1-b\",\"v\":" + live.get(id) + "}"
              : "")
          + "}";
    }
    if (tombstones.containsKey(id)) {
      return "{\"id\":"
          + json
          + ",\"key\":"
          + json
          + ",\"value\":{\"rev\":\"1-b\",\"deleted\":true}"
          + (docs ? ",\"doc\":null" : "")
          + "}";
    }
    return "{\"key\":" + json + ",\"error\":\"not_found\"}";
  }
}
