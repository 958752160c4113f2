package lectus.changes.page;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.changes.filter.FeedFilter;
import lectus.changes.testing.FeedDatabase;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.database.Sequence;
import lectus.database.testing.TestLayout;
import lectus.document.PagedBody;
import lectus.document.RequestJson;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionId;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The changes of a database, byte for byte like CouchDB's. */
class ChangesReaderTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final long ALL = ChangesReader.NO_LIMIT;

  private final FeedDatabase db = new FeedDatabase(stores.fresh(), 1);

  private static FeedOptions options(
      boolean allLeaves, boolean includeDocs, boolean conflicts, FeedFilter filter) {
    return new FeedOptions(allLeaves, includeDocs, conflicts, filter, 1);
  }

  private static FeedOptions filtered(FeedFilter filter) {
    return options(false, false, false, filter);
  }

  /** Returns the sequences of a feed's rows, from the beginning. */
  private List<String> sequences() {
    List<String> sequences = new ArrayList<>();
    for (String row : db.normal(FeedOptions.DEFAULT, "0", ALL, false).split("\\{\"seq\":\"")) {
      sequences.add(row.substring(0, Math.max(0, row.indexOf('"'))));
    }
    return sequences.subList(1, sequences.size());
  }

  private static String row(String sequence, String id, String rest) {
    return "{\"seq\":\"%s\",\"id\":\"%s\",%s}".formatted(sequence, id, rest);
  }

  private static String changes(String... revisions) {
    return "\"changes\":[{\"rev\":\"" + String.join("\"},{\"rev\":\"", revisions) + "\"}]";
  }

  private static String feed(String lastSequence, long pending, String... rows) {
    return "{\"results\":[\n"
        + String.join(",\r\n", rows)
        + "\n],\n\"last_seq\":\"%s\",\"pending\":%d}\n".formatted(lastSequence, pending);
  }

  @Test
  void empty_database() {
    assertThat(db.normal(FeedOptions.DEFAULT, "0", ALL, false)).isEqualTo(feed("0", 0, ""));
    assertThat(db.normal(FeedOptions.DEFAULT, "now", ALL, false)).isEqualTo(feed("0", 0, ""));
    assertThat(db.normal(FeedOptions.DEFAULT, "0", ALL, true)).isEqualTo(feed("0", 0, ""));
    assertThat(db.changes.updateSequence(db.name)).isEmpty();
  }

  @Test
  void each_document_shows_once_in_the_order_of_its_last_update() {
    RevisionId a1 = db.put("a", null, "{}");
    RevisionId b1 = db.put("b", null, "{}");
    RevisionId a2 = db.put("a", a1, "{\"_deleted\":true}");
    List<String> seq = sequences();

    assertThat(db.normal(FeedOptions.DEFAULT, "0", ALL, false))
        .isEqualTo(
            feed(
                seq.get(1),
                0,
                row(seq.get(0), "b", changes(b1.toString())),
                row(seq.get(1), "a", changes(a2.toString()) + ",\"deleted\":true")));
    assertThat(seq).isSorted();
    assertThat(db.changes.updateSequence(db.name).map(Sequence::toString)).contains(seq.get(1));
  }

  @Test
  void since_goes_on_behind_a_sequence() {
    db.putAll("d", 3);
    List<String> seq = sequences();

    assertThat(db.normal(FeedOptions.DEFAULT, seq.get(0), ALL, false))
        .startsWith("{\"results\":[\n{\"seq\":\"" + seq.get(1))
        .endsWith("\"last_seq\":\"" + seq.get(2) + "\",\"pending\":0}\n");
    assertThat(db.normal(FeedOptions.DEFAULT, "\"" + seq.get(2) + "\"", ALL, false))
        .isEqualTo(feed(seq.get(2), 0, ""));
    assertThat(db.normal(FeedOptions.DEFAULT, "now", ALL, false))
        .isEqualTo(feed(seq.get(2), 0, ""));
  }

  @Test
  void malformed_since() {
    for (String text : List.of("5", "", "\"", "x", "-1", "00", "14" + "0".repeat(23))) {
      assertThatThrownBy(() -> FeedPosition.since(text))
          .isInstanceOf(LectusException.class)
          .hasMessageContaining("bad_request");
    }
    assertThat(FeedPosition.since("\"now\"")).isEqualTo(Since.now());
    assertThat(FeedPosition.since("\"0\"")).isEqualTo(Since.after(FeedPosition.BEGINNING));
  }

  @Test
  void pending_is_exact_from_the_beginning_and_near_the_end() {
    db.putAll("d", 250);
    List<String> seq = sequences();

    for (int limit : new int[] {0, 1, 100, 249}) {
      assertThat(db.normal(FeedOptions.DEFAULT, "0", limit, false))
          .endsWith(
              "\"last_seq\":\"%s\",\"pending\":%d}\n"
                  .formatted(limit == 0 ? "0" : seq.get(limit - 1), 250 - limit));
    }
    assertThat(db.normal(FeedOptions.DEFAULT, "0", 250, false)).endsWith("\"pending\":0}\n");
    assertThat(db.normal(FeedOptions.DEFAULT, seq.get(199), 1, false))
        .endsWith("\"pending\":49}\n");
    assertThat(db.normal(FeedOptions.DEFAULT, seq.get(199), 0, false))
        .endsWith("\"last_seq\":\"" + seq.get(199) + "\",\"pending\":50}\n");
    assertThat(db.normal(FeedOptions.DEFAULT, seq.get(249), 0, false)).endsWith("\"pending\":0}\n");
    assertThat(db.normal(FeedOptions.DEFAULT, seq.get(150), 0, false))
        .endsWith("\"pending\":99}\n");
  }

  @Test
  void pending_in_between_is_an_estimate_that_is_never_zero() {
    db.putAll("d", 250);
    List<String> seq = sequences();

    for (int from : new int[] {0, 10, 149}) {
      String answer = db.normal(FeedOptions.DEFAULT, seq.get(from), 0, false);
      assertThat(pending(answer)).isBetween(100L, 250L);
    }
  }

  private static long pending(String answer) {
    int digits = answer.indexOf("\"pending\":") + "\"pending\":".length();
    return Long.parseLong(answer.substring(digits, answer.length() - 2));
  }

  @Test
  void page_that_ended_at_its_size_tells_what_is_pending() {
    db.putAll("d", 5);

    DatabaseHandle life = db.catalogue.open(db.name);
    ChangesReader reader = SmallPages.of(db, 2, 1);
    LivePage<FeedPosition> page =
        reader.livePage(life, FeedOptions.DEFAULT, FeedPosition.BEGINNING, ALL).join();

    assertThat(page.rows().size()).isEqualTo(1);
    assertThat(page.pending()).as("nobody is shown it").isEqualTo(LivePage.NOT_COUNTED);
    assertThat(reader.pendingBehind(life, page.next())).isEqualTo(4);
    assertThat(reader.pendingBehind(life, reader.position(db.name, Since.now()))).isZero();
  }

  @Test
  void descending_is_newest_first_from_the_end() {
    db.putAll("d", 3);
    List<String> seq = sequences();

    for (ChangesReader reader : List.of(db.changes, SmallPages.of(db, 1, 1))) {
      String answer = db.normal(reader, FeedOptions.DEFAULT, seq.get(2), ALL, true);
      assertThat(answer)
          .containsSubsequence(
              "\"seq\":\"" + seq.get(2),
              ",\r\n{\"seq\":\"" + seq.get(1),
              ",\r\n{\"seq\":\"" + seq.get(0))
          .endsWith("\n],\n\"last_seq\":\"" + seq.get(0) + "\",\"pending\":0}\n");
    }
    assertThat(db.normal(FeedOptions.DEFAULT, "0", 1, true))
        .startsWith("{\"results\":[\n{\"seq\":\"" + seq.get(2))
        .endsWith("\"last_seq\":\"" + seq.get(2) + "\",\"pending\":2}\n");
  }

  @Test
  void all_leaves_are_the_winner_then_live_ones_then_tombstones() {
    db.replicate("a", "2-b", "{}");
    db.replicate("a", "2-a", "{}");
    db.replicate("a", "9-t", "{\"_deleted\":true}");
    db.replicate("b", "1-x", "{}");
    List<String> seq = sequences();

    assertThat(db.normal(options(true, false, false, new FeedFilter.None()), "0", ALL, false))
        .isEqualTo(
            feed(
                seq.get(1),
                0,
                row(seq.get(0), "a", changes("2-b", "2-a", "9-t")),
                row(seq.get(1), "b", changes("1-x"))));
  }

  @Test
  void documents_of_rows() {
    db.replicate("a", "2-b", "{\"v\":1}");
    db.replicate("a", "2-a", "{\"v\":2}");
    db.replicate("b", "1-x", "{\"_deleted\":true}");
    db.replicate("c", "1-y", "{\"_deleted\":true,\"why\":\"left\"}");
    List<String> seq = sequences();

    assertThat(db.normal(options(false, true, true, new FeedFilter.None()), "0", ALL, false))
        .isEqualTo(
            feed(
                seq.get(2),
                0,
                row(
                    seq.get(0),
                    "a",
                    changes("2-b")
                        + ",\"doc\":{\"_id\":\"a\",\"_rev\":\"2-b\",\"v\":1,\"_conflicts\":[\"2-a\"]}"),
                row(
                    seq.get(1),
                    "b",
                    changes("1-x")
                        + ",\"deleted\":true,\"doc\":{\"_id\":\"b\",\"_rev\":\"1-x\",\"_deleted\":true}"),
                row(
                    seq.get(2),
                    "c",
                    changes("1-y")
                        + ",\"deleted\":true,\"doc\":{\"_id\":\"c\",\"_rev\":\"1-y\",\"why\":\"left\",\"_deleted\":true}")));
    assertThat(db.normal(options(false, true, false, new FeedFilter.None()), "0", 1, false))
        .contains("\"doc\":{\"_id\":\"a\",\"_rev\":\"2-b\",\"v\":1}}");
  }

  @Test
  void last_seq_passes_what_a_filter_leaves_out() {
    db.putAll("d", 5);
    db.put("_design/x", null, "{}");
    db.putAll("e", 5);
    List<String> seq = sequences();
    FeedFilter some = new FeedFilter.DocumentIds(Set.of("d1", "d3", "none"));

    for (ChangesReader reader :
        List.of(db.changes, SmallPages.of(db, 1, 1), SmallPages.of(db, 3, 1))) {
      assertThat(db.normal(reader, filtered(some), "0", ALL, false))
          .contains("\"id\":\"d1\"", "\"id\":\"d3\"")
          .doesNotContain("\"id\":\"d2\"", "\"id\":\"e")
          .endsWith("\"last_seq\":\"" + seq.get(10) + "\",\"pending\":0}\n");
      assertThat(db.normal(reader, filtered(new FeedFilter.DesignDocuments()), "0", ALL, false))
          .startsWith("{\"results\":[\n{\"seq\":\"" + seq.get(5) + "\",\"id\":\"_design/x\"")
          .endsWith("]}\n],\n\"last_seq\":\"" + seq.get(10) + "\",\"pending\":0}\n");
      assertThat(db.normal(reader, filtered(some), "0", 1, false))
          .contains("\"id\":\"d1\"")
          .endsWith("\"last_seq\":\"" + seq.get(1) + "\",\"pending\":9}\n");
    }
  }

  @Test
  void documents_are_looked_up_or_sought_with_the_same_result() {
    db.putAll("d", 150);
    db.putAll("e", 150);
    List<String> seq = sequences();

    for (int count : new int[] {1, 99, 100, 101}) {
      Set<String> ids =
          IntStream.range(0, count).mapToObj(i -> "e" + i).collect(Collectors.toSet());
      FeedOptions some = filtered(new FeedFilter.DocumentIds(ids));
      for (String since : List.of("0", seq.get(3), seq.get(151))) {
        String inOnePage = db.normal(some, since, ALL, false);
        assertThat(inOnePage).endsWith("\"last_seq\":\"" + seq.get(299) + "\",\"pending\":0}\n");
        assertThat(db.normal(SmallPages.of(db, 20, 4_000), some, since, ALL, false))
            .isEqualTo(inOnePage);
      }
    }
  }

  @Test
  void filters_from_requests() {
    assertThat(FeedFilter.documentIds(RequestJson.ofParameter("[\"a\",\"b\"]")))
        .isEqualTo(new FeedFilter.DocumentIds(Set.of("a", "b")));
    for (String json : List.of("null", "{}", "\"a\"", "[1]")) {
      assertThatThrownBy(() -> FeedFilter.documentIds(RequestJson.ofParameter(json)))
          .isInstanceOf(LectusException.class);
    }
  }

  @Test
  void sequence_interval_leaves_out_sequences_between() {
    db.putAll("d", 6);
    FeedOptions everyThird = new FeedOptions(false, false, false, new FeedFilter.None(), 3);
    List<String> seq = sequences();

    for (ChangesReader reader : List.of(db.changes, SmallPages.of(db, 1, 1))) {
      String answer = db.normal(reader, everyThird, "0", 6, false);
      assertThat(answer.split("\\{\"seq\":null,\"id\":", -1)).hasSize(5);
      assertThat(answer).contains("{\"seq\":\"" + seq.get(0), "{\"seq\":\"" + seq.get(3));
    }
  }

  @Test
  void live_page_goes_on_where_the_last_one_ended() {
    db.putAll("d", 3);
    List<String> seq = sequences();
    DatabaseHandle life = db.catalogue.open(db.name);

    LivePage<FeedPosition> first =
        db.changes.livePage(life, FeedOptions.DEFAULT, FeedPosition.BEGINNING, 2).join();
    LivePage<FeedPosition> second =
        db.changes.livePage(life, FeedOptions.DEFAULT, first.next(), ALL).join();
    LivePage<FeedPosition> third =
        db.changes.livePage(life, FeedOptions.DEFAULT, second.next(), ALL).join();

    assertThat(first.reachedEnd()).isFalse();
    assertThat(db.changes.pendingBehind(life, first.next())).isEqualTo(1);
    assertThat(first.next().text()).isEqualTo(seq.get(1));
    assertThat(texts(first.rows()))
        .hasSize(2)
        .allMatch(row -> row.startsWith("{\"seq\":\"") && row.endsWith("]}"));
    assertThat(first.rows().at(0).text()).isEqualTo(seq.get(0));
    assertThat(first.rows().firstBehind(FeedPosition.BEGINNING)).isZero();
    assertThat(first.rows().firstBehind(first.rows().at(0))).isEqualTo(1);
    assertThat(first.rows().firstBehind(first.next())).isEqualTo(2);
    assertThat(texts(second.rows())).hasSize(1);
    assertThat(second.reachedEnd()).isTrue();
    assertThat(third.rows().isEmpty()).isTrue();
    assertThat(third.next()).isEqualTo(second.next());
    assertThat(third.pending()).isZero();
    assertThat(third.end()).isEmpty();
  }

  private static List<String> texts(Rows<?> rows) {
    return IntStream.range(0, rows.size())
        .mapToObj(
            row ->
                new String(
                    rows.json(),
                    rows.start(row),
                    rows.end(row) - rows.start(row),
                    StandardCharsets.UTF_8))
        .toList();
  }

  @Test
  void last_line_of_a_continuous_feed() {
    JsonBuffer out = new JsonBuffer(64);

    FeedText.appendLastLine(FeedPosition.BEGINNING, 7, new FeedEnd.TimedOut(), out);

    assertThat(out.toString()).isEqualTo("{\"last_seq\":\"0\",\"pending\":7}\n");
  }

  @Test
  void feed_ends_when_the_database_is_another_one() {
    db.putAll("d", 3);
    PagedBody feed =
        SmallPages.of(db, 1, 1)
            .answer(db.name, FeedOptions.DEFAULT, Since.after(FeedPosition.BEGINNING), ALL);
    assertThat(feed.appendNext(new JsonBuffer(64))).isTrue();

    db.catalogue.delete(db.name);
    db.catalogue.create(db.name, TestLayout.OPTIONS);
    db.putAll("e", 3);

    assertThatThrownBy(() -> feed.appendNext(new JsonBuffer(64)))
        .isInstanceOf(LectusException.class)
        .hasMessageContaining("Database does not exist.");
  }

  @Nested
  class Info {
    @RegisterExtension static final TestStores stores = new TestStores();

    private final FeedDatabase db = new FeedDatabase(stores.fresh(), 1);
    private final DatabaseInfo info = new DatabaseInfo(db.catalogue, db.transactions);

    @Test
    void empty_database() {
      assertThat(info())
          .isEqualTo(
              json("{'instance_start_time':'1795253100','db_name':'db','purge_seq':'0','update_seq':'0','sizes':{'file':0,'external':0,'active':0},'props':{'layout':'%s'},'doc_del_count':0,'doc_count':0,'disk_format_version':8,'compact_running':false,'cluster':{'q':1,'n':1,'w':1,'r':1}}")
                  .formatted(TestLayout.OF_RUN.text()));
    }

    @Test
    void counters_and_update_sequence() {
      db.put("a", null, "{\"v\":1}");
      RevisionId b1 = db.put("b", null, "{\"v\":1}");
      db.put("c", null, "{}");
      db.put("b", b1, "{\"_deleted\":true}");
      String last = db.changes.updateSequence(db.name).map(Sequence::toString).orElseThrow();

      assertThat(info())
          .contains("\"update_seq\":\"" + last + "\"", "\"doc_del_count\":1,\"doc_count\":2")
          .containsPattern("\"sizes\":\\{\"file\":[1-9]\\d*,\"external\":[1-9]\\d*,");
    }

    @Test
    void database_that_does_not_exist() {
      assertThatThrownBy(
              () ->
                  info.append(
                      DatabaseRequest.byServer(DatabaseName.of("none")), new JsonBuffer(64)))
          .isInstanceOf(LectusException.class)
          .hasMessageContaining("Database does not exist.");
    }

    private String info() {
      JsonBuffer out = new JsonBuffer(64);
      info.append(DatabaseRequest.byServer(db.name), out);
      return out.toString();
    }
  }
}
