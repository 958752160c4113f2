package lectus.mango.query;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseRequest;
import lectus.derived.rows.FillingJobs;
import lectus.document.PagedBody;
import lectus.document.edit.Edit;
import lectus.document.testing.TestDatabase;
import lectus.json.JsonBuffer;
import lectus.store.CountedReads;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Number of rows that a query of many ranges reads. */
final class FindCostTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final int VALUES = 64;
  private static final int DOCUMENTS_OF_EACH = 100;

  private static final String DESIGN =
      "{\"language\":\"query\",\"views\":{\"v\":{\"map\":{\"fields\":{\"k\":\"asc\"}},"
          + "\"reduce\":\"_count\",\"options\":{\"def\":{\"fields\":[\"k\"]}}}}}";

  private static final Pattern NUMBER = Pattern.compile("\\{\"k\":(\\d+)\\}");

  private final CountedReads counted = new CountedReads(stores.fresh());
  private final TestDatabase db = TestDatabase.create(counted.store());
  private final Queries queries =
      new Queries(
          db.catalogue,
          db.transactions,
          new FillingJobs(db.store.rootPrefix()),
          new QueryMetrics());

  private int found(int limit) {
    String values =
        IntStream.range(0, VALUES).mapToObj(Integer::toString).collect(Collectors.joining(","));
    return found(
        "{\"selector\":{\"k\":{\"$in\":[%s]}},\"fields\":[\"k\"],\"use_index\":\"k\",\"limit\":%d}"
            .formatted(values, limit));
  }

  private int found(String query) {
    return answer(query).split("\\{\"k\":", -1).length - 1;
  }

  private String answer(String query) {
    PagedBody answer =
        queries.find(
            DatabaseRequest.byServer(db.name),
            query.getBytes(StandardCharsets.UTF_8),
            Optional.empty());
    JsonBuffer out = new JsonBuffer(1_024);
    boolean isMore;
    do {
      isMore = answer.appendNext(out);
    } while (isMore);
    return out.toString();
  }

  @Test
  void thousands_of_alternatives_read_the_documents_that_they_name() {
    for (int from = 0; from < 6_000; from += 500) {
      db.write(
          IntStream.range(from, from + 500)
              .mapToObj(i -> TestDatabase.edit("d" + i, null, "{\"k\":" + i + "}"))
              .toList());
    }
    for (String form : List.of("{\"_id\":\"d%d\"}", "{\"_id\":{\"$eq\":\"d%d\"},\"k\":%<d}")) {
      String clauses =
          IntStream.range(0, 2_000).mapToObj(form::formatted).collect(Collectors.joining(","));
      long before = counted.rows();
      assertThat(
              found(
                  "{\"selector\":{\"$or\":[%s]},\"fields\":[\"k\"],\"limit\":5000}"
                      .formatted(clauses)))
          .isEqualTo(2_000);
      // A row of the list and the leaves of a document, for each.
      assertThat((counted.rows() - before) / 2_000.0).isLessThan(8);
    }
  }

  /** Documents with the numbers from 0 on, and an index of them. */
  private void putNumbered(int count) {
    db.put("_design/k", DESIGN);
    for (int from = 0; from < count; from += 500) {
      db.write(
          IntStream.range(from, from + 500)
              .mapToObj(i -> TestDatabase.edit("d" + i, null, "{\"k\":" + i + "}"))
              .toList());
    }
  }

  private void assertFound(IntStream values, boolean descending) {
    List<Integer> wanted = values.boxed().toList();
    String query =
        "{\"selector\":{\"k\":{\"$in\":%s}},\"fields\":[\"k\"],\"limit\":9999,\"sort\":[{\"k\":\"%s\"}]}"
            .formatted(wanted, descending ? "desc" : "asc");
    List<Integer> found =
        NUMBER.matcher(answer(query)).results().map(it -> Integer.valueOf(it.group(1))).toList();
    Comparator<Integer> order = descending ? Comparator.reverseOrder() : Comparator.naturalOrder();
    assertThat(found).isEqualTo(wanted.stream().sorted(order).toList());
  }

  @Test
  void alternatives_that_most_rows_have_are_read_together_and_others_each() {
    putNumbered(4_000);
    for (boolean descending : List.of(false, true)) {
      long reads = counted.reads();
      long rows = counted.rows();
      assertFound(IntStream.range(0, 4_000).filter(i -> i % 10 != 3), descending);
      assertThat(counted.reads() - reads).isLessThan(600);
      assertThat(counted.rows() - rows).isLessThan(4_600);

      rows = counted.rows();
      assertFound(IntStream.range(0, 4_000).filter(i -> i % 20 == 3), descending);
      assertThat(counted.rows() - rows).isLessThan(500);

      rows = counted.rows();
      assertFound(IntStream.range(0, 4_000).filter(i -> i < 1_000 || i % 20 == 3), descending);
      assertThat(counted.rows() - rows).isLessThan(2_000);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void alternatives_of_any_density_are_found_in_order(long seed) {
    putNumbered(1_000);
    Random random = new Random(seed);
    for (int run = 0; run < 10; run++) {
      TreeSet<Integer> values = new TreeSet<>();
      for (int value = 0; value < 1_000; ) {
        int end = value + 1 + random.nextInt(400);
        int step = 1 + random.nextInt(random.nextBoolean() ? 2 : 30);
        for (; value < end && value < 1_000; value += step) {
          values.add(value);
        }
      }
      assertFound(values.stream().mapToInt(it -> it), random.nextBoolean());
    }
  }

  private double rowsOfEach(int limit) {
    long before = counted.rows();
    assertThat(found(limit)).isEqualTo(limit);
    return (counted.rows() - before) / (double) limit;
  }

  @Test
  void many_large_ranges_are_not_read_again_for_each_page_of_one() {
    db.put("_design/k", DESIGN);
    for (int value = 0; value < VALUES; value++) {
      List<Edit> edits = new ArrayList<>();
      for (int i = 0; i < DOCUMENTS_OF_EACH; i++) {
        edits.add(TestDatabase.edit("d" + value + "-" + i, null, "{\"k\":" + value + "}"));
      }
      db.write(edits);
    }

    assertThat(rowsOfEach(100)).isLessThan(4);
    assertThat(rowsOfEach(3_000)).isLessThan(4);
    assertThat(rowsOfEach(VALUES * DOCUMENTS_OF_EACH)).isLessThan(4);
  }
}
