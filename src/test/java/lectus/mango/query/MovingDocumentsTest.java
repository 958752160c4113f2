package lectus.mango.query;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import lectus.database.DatabaseRequest;
import lectus.derived.rows.FillingJobs;
import lectus.document.PagedBody;
import lectus.document.edit.Edit;
import lectus.document.testing.TestDatabase;
import lectus.document.write.EditOutcome;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionId;
import lectus.store.testing.TimedStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Queries of an index in which writers move documents between the parts of the answer. */
final class MovingDocumentsTest {
  private static final Pattern ID = Pattern.compile("\"_id\":\"([^\"]*)\"");
  private static final int DOCUMENTS = 1_500;
  private static final int KEYS = 10_000;
  private static final int WRITTEN_BETWEEN_PARTS = 120;

  /** Not in the index. */
  private static final int NO_KEY = -1;

  /** A part of an answer has some 200 documents. */
  private static final String PADDING = "x".repeat(900);

  @TempDir private Path folder;

  private final Map<String, Integer> keys = new HashMap<>();
  private final Map<String, RevisionId> revisions = new HashMap<>();
  private final Set<String> stayed = new TreeSet<>();
  private TimedStore timed;
  private TestDatabase db;
  private Queries queries;

  @BeforeEach
  void open() {
    timed = new TimedStore(folder);
    db = TestDatabase.partitioned(timed.store);
    queries =
        new Queries(
            db.catalogue,
            db.transactions,
            new FillingJobs(db.store.rootPrefix()),
            new QueryMetrics());
    db.put(
        "_design/k",
        utf8Json(
            "{'language':'query','views':{'v':{'map':{'fields':{'k':'asc'},"
                + "'partial_filter_selector':{'odd':false}},'reduce':'_count',"
                + "'options':{'partitioned':false,'def':{'fields':['k']}}}},"
                + "'options':{'partitioned':false}}"));
  }

  @AfterEach
  void close() {
    db.audit(keys.size() + 1);
    timed.close();
  }

  private static String utf8Json(String json) {
    return json.replace('\'', '"');
  }

  /** Writes the documents of these ids with new keys. */
  private void write(Random random, List<String> ids) {
    List<Edit> edits = new ArrayList<>();
    for (String id : ids) {
      int key = random.nextInt(10) == 0 ? NO_KEY : random.nextInt(KEYS);
      boolean isOdd = random.nextInt(20) == 0;
      keys.put(id, isOdd ? NO_KEY : key);
      if (!isFound(id)) {
        stayed.remove(id);
      }
      String json =
          (key == NO_KEY ? "{" : "{'k':" + key + ",")
              + "'odd':"
              + isOdd
              + ",'x':'"
              + PADDING
              + "'}";
      edits.add(TestDatabase.edit(id, revisions.get(id), utf8Json(json)));
    }
    List<EditOutcome> outcomes = db.write(edits);
    for (int i = 0; i < ids.size(); i++) {
      revisions.put(ids.get(i), TestDatabase.written(outcomes.get(i)));
    }
  }

  /** The query has two ranges, with a gap between them. */
  private boolean isFound(String id) {
    int key = keys.get(id);
    return (key >= 100 && key < 4_000) || (key >= 5_000 && key < 9_000);
  }

  private void fill(Random random) {
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < DOCUMENTS; i++) {
      ids.add("p" + i % 7 + ":d" + i);
    }
    write(random, ids);
    stayed.clear();
    ids.stream().filter(this::isFound).forEach(stayed::add);
  }

  private void writeSome(Random random) {
    List<String> ids = new ArrayList<>(keys.keySet());
    ids.sort(Comparator.naturalOrder());
    Collections.shuffle(ids, random);
    List<String> some = new ArrayList<>(ids.subList(0, WRITTEN_BETWEEN_PARTS));
    some.add("p1:new" + keys.size());
    write(random, some);
  }

  private static String query(boolean descending, int skip) {
    return utf8Json(
        "{'selector':{'$or':[{'k':{'$gte':100,'$lt':4000}},{'k':{'$gte':5000,'$lt':9000}}]},"
            + "'use_index':'k','limit':100000,'skip':"
            + skip
            + ",'sort':[{'k':'"
            + (descending ? "desc" : "asc")
            + "'}]}");
  }

  private List<String> answer(String query, Runnable betweenParts) {
    PagedBody answer =
        queries.find(
            DatabaseRequest.byServer(db.name),
            query.getBytes(StandardCharsets.UTF_8),
            Optional.empty());
    JsonBuffer out = new JsonBuffer(1_024);
    int parts = 1;
    while (answer.appendNext(out)) {
      betweenParts.run();
      parts++;
    }
    assertThat(parts).isGreaterThan(3);
    return ID.matcher(out.toString()).results().map(it -> it.group(1)).toList();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void an_answer_shows_one_state_for_as_long_as_the_store_keeps_it(boolean descending) {
    Random random = new Random(1);
    fill(random);
    List<String> before = answer(query(descending, 0), () -> {});

    List<String> beside = answer(query(descending, 0), () -> writeSome(random));

    assertThat(beside).isEqualTo(before).containsAll(stayed);
    assertThat(answer(query(descending, 0), () -> {})).isNotEqualTo(before);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void beyond_that_no_document_comes_twice_and_none_is_missing_that_matched_throughout(long seed) {
    Random random = new Random(seed);
    fill(random);

    List<String> found =
        answer(
            query(seed % 2 == 0, 0),
            () -> {
              writeSome(random);
              if (random.nextInt(2) == 0) {
                timed.pass(6);
                writeSome(random);
              }
            });

    assertThat(found).doesNotHaveDuplicates().containsAll(stayed);
    assertThat(stayed).hasSizeGreaterThan(DOCUMENTS / 8);
  }

  @Test
  void a_document_that_was_skipped_is_not_shown_later() {
    Random random = new Random(9);
    fill(random);
    int skip = 150;
    List<String> skipped = answer(query(false, 0), () -> {}).subList(0, skip);

    List<String> found =
        answer(
            query(false, skip),
            () -> {
              write(random, skipped);
              timed.pass(6);
            });

    assertThat(found).doesNotHaveDuplicates().doesNotContainAnyElementsOf(skipped);
  }

  @Test
  void a_reader_that_stays_away_for_long_finds_them_all() {
    Random random = new Random(10);
    fill(random);

    List<String> found =
        answer(
            query(false, 0),
            () -> {
              timed.pass(60);
              writeSome(random);
            });

    assertThat(found).doesNotHaveDuplicates().containsAll(stayed);
  }
}
