package lectus.document.read;

import static lectus.document.testing.TestDatabase.written;
import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.IntStream;
import lectus.database.DatabaseConfiguration.BodyLayout;
import lectus.database.DatabaseRequest;
import lectus.derived.Selector;
import lectus.document.AttachmentJson.FollowingAttachments;
import lectus.document.ReadAhead;
import lectus.document.testing.TestDatabase;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.FieldPath;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.revision.RevisionId;
import lectus.store.testing.TestStores;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Reads of single documents, option by option, with CouchDB's answers. */
class DocumentReaderTest {
  private static final List<FieldPath> FIELDS = List.of(FieldPath.parse("v"), FieldPath.parse("x"));

  @RegisterExtension static final TestStores stores = new TestStores();

  private final TestDatabase db = TestDatabase.create(stores.fresh());

  private final DocumentReader reader =
      new DocumentReader(db.catalogue, db.transactions, new DocumentCache(1 << 20));

  @Test
  void document_has_id_and_revision_before_its_body() {
    RevisionId first = db.put("a", "{\"v\":1,\"list\":[1,{\"x\":null}],\"empty\":{}}");

    assertThat(read("a", DocumentQuery.DEFAULT))
        .isEqualTo(
            json("{'_id':'a','_rev':'%s','v':1,'list':[1,{'x':null}],'empty':{}}")
                .formatted(first));
  }

  @Test
  void empty_body_is_found_by_its_metadata() {
    RevisionId first = db.put("a", "{}");

    assertThat(read("a", DocumentQuery.DEFAULT))
        .isEqualTo("{\"_id\":\"a\",\"_rev\":\"%s\"}".formatted(first));
  }

  @Test
  void array_longer_than_a_chunk_keeps_its_order() {
    StringBuilder json = new StringBuilder("{\"list\":[0");
    for (int i = 1; i < 2_000; i++) {
      json.append(',').append(i);
    }
    json.append("]}");
    RevisionId first = db.put("a", json.toString());

    assertThat(read("a", DocumentQuery.DEFAULT))
        .isEqualTo("{\"_id\":\"a\",\"_rev\":\"%s\",%s".formatted(first, json.substring(1)));
  }

  @Test
  void id_is_escaped_as_json() {
    RevisionId first = db.put("q\"\u0001ü", "{}");

    assertThat(read("q\"\u0001ü", DocumentQuery.DEFAULT))
        .isEqualTo("{\"_id\":\"q\\\"\\u0001ü\",\"_rev\":\"%s\"}".formatted(first));
  }

  @Test
  void ids_of_which_one_begins_with_the_other_and_a_nul_do_not_mix() {
    RevisionId first = db.put("a", "{\"v\":1}");
    db.put("a\0", "{\"v\":2}");
    db.put("a\0b", "{\"v\":3}");

    assertThat(read("a", DocumentQuery.DEFAULT))
        .isEqualTo("{\"_id\":\"a\",\"_rev\":\"%s\",\"v\":1}".formatted(first));
    assertThat(read("a\0", DocumentQuery.DEFAULT)).contains("\"v\":2");
  }

  @Test
  void missing_and_deleted_are_told_apart() {
    db.delete("a", db.put("a", "{\"v\":1}"));

    assertNotFound("deleted", () -> read("a", DocumentQuery.DEFAULT));
    assertNotFound("deleted", () -> read("a", revsInfo()));
    assertNotFound("deleted", () -> read("a", fields("v")));
    assertNotFound("deleted", () -> reader.currentRevision(DatabaseRequest.byServer(db.name), "a"));
    assertNotFound("missing", () -> read("b", DocumentQuery.DEFAULT));
    assertNotFound("missing", () -> read("b", revsInfo()));
    assertNotFound("missing", () -> read("b", fields("v")));
    assertNotFound("missing", () -> reader.currentRevision(DatabaseRequest.byServer(db.name), "b"));
  }

  @Test
  void tombstone_with_a_body_is_deleted_and_loses_against_a_live_leaf() {
    db.replicate("a", "{\"_deleted\":true,\"why\":\"because\"}", "9-f", "8-e");
    assertNotFound("deleted", () -> read("a", DocumentQuery.DEFAULT));

    db.replicate("a", "{\"v\":1}", "2-b", "1-a");
    assertThat(read("a", DocumentQuery.DEFAULT)).isEqualTo(json("{'_id':'a','_rev':'2-b','v':1}"));
    assertThat(reader.currentRevision(DatabaseRequest.byServer(db.name), "a"))
        .isEqualTo(RevisionId.of("2-b"));
  }

  @Test
  void winner_with_an_empty_body_beats_a_loser_with_a_long_one() {
    db.replicate("a", "{\"v\":1}", "2-a");
    db.replicate("a", "{}", "2-b");

    assertThat(read("a", DocumentQuery.DEFAULT)).isEqualTo("{\"_id\":\"a\",\"_rev\":\"2-b\"}");
  }

  @Test
  void database_that_does_not_exist() {
    db.put("a", "{}");
    db.catalogue.delete(db.name);

    assertNotFound("Database does not exist.", () -> read("a", DocumentQuery.DEFAULT));
  }

  @Test
  void revs_lists_the_winning_branch_last() {
    RevisionId first = db.put("a", "{\"v\":1}");
    RevisionId second = db.put("a", first, "{\"v\":2}");

    assertThat(read("a", new DocumentQuery(none(), true, false, false, false, false, all())))
        .isEqualTo(
            json("{'_id':'a','_rev':'%s','v':2,'_revisions':{'start':2,'ids':['%s','%s']}}")
                .formatted(second, second.hash(), first.hash()));
  }

  @Test
  void revs_info_tells_that_only_the_leaf_is_available() {
    RevisionId first = db.put("a", "{\"v\":1}");
    RevisionId second = db.put("a", first, "{\"v\":2}");

    assertThat(read("a", revsInfo()))
        .endsWith(
            json("'v':2,'_revs_info':[{'rev':'%s','status':'available'},{'rev':'%s','status':'missing'}]}")
                .formatted(second, first));
  }

  @Test
  void meta_adds_three_members_in_order_and_leaves_out_empty_conflicts() {
    db.replicate("a", "{\"v\":1}", "3-w", "2-p");
    assertThat(read("a", DocumentQuery.DEFAULT.withMeta()))
        .isEqualTo(
            "{\"_id\":\"a\",\"_rev\":\"3-w\",\"v\":1,\"_revs_info\":[{\"rev\":\"3-w\",\"status\":\"available\"},{\"rev\":\"2-p\",\"status\":\"missing\"}]}");

    db.replicate("a", "{}", "2-zzz");
    db.replicate("a", "{}", "2-b");
    db.replicate("a", "{\"_deleted\":true}", "7-x");
    db.replicate("a", "{\"_deleted\":true}", "5-y");
    assertThat(read("a", DocumentQuery.DEFAULT.withMeta()))
        .endsWith(
            json(
                "'status':'missing'}],'_conflicts':['2-zzz','2-b'],'_deleted_conflicts':['7-x','5-y']}"));
  }

  @Test
  void local_seq_is_the_sequence_of_the_last_change() {
    db.put("a", "{}");

    assertThat(read("a", new DocumentQuery(none(), false, false, false, false, true, all())))
        .endsWith(",\"_local_seq\":\"%s\"}".formatted(db.changes().get(0).sequence()));
  }

  @Test
  void rev_reads_a_losing_leaf_and_ignores_what_concerns_the_winner() {
    db.replicate("a", "{\"v\":1}", "2-a", "1-a");
    db.replicate("a", "{\"v\":2}", "2-b", "1-b");
    Optional<RevisionId> loser = Optional.of(RevisionId.of("2-a"));

    assertThat(read("a", new DocumentQuery(loser, false, true, true, true, true, all())))
        .isEqualTo("{\"_id\":\"a\",\"_rev\":\"2-a\",\"v\":1}");
    assertThat(read("a", new DocumentQuery(loser, true, true, true, true, true, all())))
        .isEqualTo(json("{'_id':'a','_rev':'2-a','v':1,'_revisions':{'start':2,'ids':['a','a']}}"));
  }

  @Test
  void rev_reads_a_tombstone_with_and_without_a_body() {
    RevisionId tombstone = db.delete("a", db.put("a", "{\"v\":1}"));
    db.replicate("b", "{\"_deleted\":true,\"why\":\"x\"}", "2-t", "1-a");

    assertThat(read("a", atRevision(tombstone)))
        .isEqualTo("{\"_id\":\"a\",\"_rev\":\"%s\",\"_deleted\":true}".formatted(tombstone));
    assertThat(read("b", atRevision(RevisionId.of("2-t"))))
        .isEqualTo("{\"_id\":\"b\",\"_rev\":\"2-t\",\"why\":\"x\",\"_deleted\":true}");
  }

  @Test
  void rev_of_an_ancestor_or_of_nothing_is_missing() {
    RevisionId first = db.put("a", "{\"v\":1}");
    db.put("a", first, "{\"v\":2}");

    assertNotFound("missing", () -> read("a", atRevision(first)));
    assertNotFound("missing", () -> read("a", atRevision(RevisionId.of("9-abc"))));
    assertNotFound("missing", () -> read("b", atRevision(first)));
  }

  @Test
  void fields_read_parts_of_the_body() {
    RevisionId first =
        db.put("a", json("{'a':{'b':1,'c':2},'ab':3,'d':[{'e':4},{'e':5,'f':6}],'z':7}"));
    String head = "{\"_id\":\"a\",\"_rev\":\"%s\"".formatted(first);

    assertThat(read("a", fields("a.b", "z"))).isEqualTo(head + ",\"a\":{\"b\":1},\"z\":7}");
    assertThat(read("a", fields("a"))).isEqualTo(head + ",\"a\":{\"b\":1,\"c\":2}}");
    assertThat(read("a", fields("a.b", "a", "a.c"))).isEqualTo(head + ",\"a\":{\"b\":1,\"c\":2}}");
    assertThat(read("a", fields("d.1.e"))).isEqualTo(head + ",\"d\":[{\"e\":5}]}");
    assertThat(read("a", fields("none"))).isEqualTo(head + "}");
    assertThat(read("a", fields("_id", "_rev", "z"))).isEqualTo(head + ",\"z\":7}");
  }

  @Test
  void fields_go_with_rev_and_with_revs() {
    db.replicate("a", "{\"v\":1,\"w\":2}", "2-a");
    db.replicate("a", "{\"v\":3,\"w\":4}", "2-b");
    List<FieldPath> fields = fields("w").fields();

    assertThat(
            read(
                "a",
                new DocumentQuery(
                    Optional.of(RevisionId.of("2-a")), false, false, false, false, false, fields)))
        .isEqualTo(json("{'_id':'a','_rev':'2-a','w':2}"));
    assertThat(read("a", new DocumentQuery(none(), true, false, true, false, false, fields)))
        .isEqualTo(
            "{\"_id\":\"a\",\"_rev\":\"2-b\",\"w\":4,\"_revisions\":{\"start\":2,\"ids\":[\"b\"]},\"_conflicts\":[\"2-a\"]}");
  }

  @Test
  void what_stands_in_the_buffer_stays() {
    RevisionId first = written(db.write(TestDatabase.edit("a", null, "{}")));
    JsonBuffer out = new JsonBuffer(16).ascii("before ");

    assertThat(reader.read(DatabaseRequest.byServer(db.name), "a", DocumentQuery.DEFAULT, out))
        .isEqualTo(first);
    assertThat(out.toString()).startsWith("before {\"_id\"");
  }

  private String read(String id, DocumentQuery options) {
    JsonBuffer out = new JsonBuffer(256);
    RevisionId revision = reader.read(DatabaseRequest.byServer(db.name), id, options, out);
    assertThat(out.toString()).contains("\"_rev\":\"" + revision + "\"");
    return out.toString();
  }

  private static DocumentQuery revsInfo() {
    return new DocumentQuery(none(), false, true, false, false, false, all());
  }

  private static DocumentQuery atRevision(RevisionId revision) {
    return new DocumentQuery(Optional.of(revision), false, false, false, false, false, all());
  }

  private static DocumentQuery fields(String... fields) {
    return new DocumentQuery(
        none(),
        false,
        false,
        false,
        false,
        false,
        Arrays.stream(fields).map(FieldPath::parse).toList());
  }

  private static Optional<RevisionId> none() {
    return Optional.empty();
  }

  private static List<FieldPath> all() {
    return List.of();
  }

  private static void assertNotFound(String reason, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            LectusException.class,
            e -> assertThat(e.error()).isEqualTo(new LectusError.NotFound(reason)));
  }

  @Test
  void default_read_is_one_range_read() {
    db.replicate("a", "{\"v\":1}", "2-a");
    db.replicate("a", "{\"v\":2,\"w\":3}", "2-b");

    assertThat(readsOf("a", DocumentQuery.DEFAULT)).containsExactly("getRange");
  }

  @Test
  void what_was_read_twice_before_costs_one_key() {
    db.put("a", "{\"v\":1}");

    assertThat(readsOf("a", DocumentQuery.DEFAULT)).containsExactly("getRange");
    assertThat(readsOf("a", DocumentQuery.DEFAULT)).containsExactly("getRange", "getRange");
    assertThat(readsOf("a", DocumentQuery.DEFAULT)).containsExactly("get");
  }

  @Test
  void read_of_a_live_leaf_by_its_revision_is_one_range_read() {
    RevisionId first = db.put("a", "{\"v\":1}");

    assertThat(readsOf("a", atRevision(first, List.of()))).containsExactly("getRange");
  }

  @Test
  void document_that_is_not_there_costs_two_more_keys() {
    db.delete("a", db.put("a", "{\"v\":1}"));

    db.read(
        (tx, handle) -> {
          CountedReads counted = new CountedReads(tx);
          assertThatThrownBy(
                  () ->
                      reader.read(
                          counted.transaction(),
                          handle,
                          "a",
                          DocumentQuery.DEFAULT,
                          new JsonBuffer(64),
                          new FollowingAttachments()))
              .isInstanceOf(LectusException.class);
          assertThat(counted.reads()).containsExactly("getRange", "get", "get");
          return null;
        });
  }

  @Test
  void each_field_of_a_known_revision_is_one_range_read() {
    TestDatabase rows = TestDatabase.create(stores.fresh(), BodyLayout.RFC004);
    RevisionId first = rows.put("a", "{\"v\":1,\"w\":2,\"x\":3}");

    assertThat(readsOf(rows, "a", atRevision(first, FIELDS)))
        .containsExactly("get", "get", "get", "getRange", "getRange");
  }

  @Test
  void all_fields_of_a_small_document_are_one_key() {
    TestDatabase inline = TestDatabase.create(stores.fresh(), BodyLayout.INLINE);
    RevisionId first = inline.put("a", "{\"v\":1,\"w\":2,\"x\":3}");
    RevisionId large = inline.put("b", "{\"v\":1,\"w\":\"" + "x".repeat(9_000) + "\",\"x\":3}");

    assertThat(readsOf(inline, "a", atRevision(first, FIELDS)))
        .containsExactly("get", "get", "get");
    assertThat(readsOf(inline, "b", atRevision(large, FIELDS)))
        .containsExactly("get", "get", "get", "getRange", "getRange");
  }

  private List<String> readsOf(String id, DocumentQuery options) {
    return readsOf(db, id, options);
  }

  private List<String> readsOf(TestDatabase database, String id, DocumentQuery options) {
    return database.read(
        (tx, handle) -> {
          CountedReads counted = new CountedReads(tx);
          reader.read(
              counted.transaction(),
              handle,
              id,
              options,
              new JsonBuffer(64),
              new FollowingAttachments());
          return counted.reads();
        });
  }

  private static DocumentQuery atRevision(RevisionId revision, List<FieldPath> fields) {
    return new DocumentQuery(Optional.of(revision), false, false, false, false, false, fields);
  }

  /** Which parts of a document are read to match it. */
  @Nested
  class Selected {
    private final TestDatabase db = TestDatabase.create(stores.fresh(), BodyLayout.RFC004);

    private final RevisionId revision =
        db.put(
            "a",
            "{\"type\":\"order\",\"items\":[1,2,3],\"to\":{\"city\":\"Ulm\"},\"long\":\""
                + "x".repeat(5_000)
                + "\"}");

    @Test
    void a_scalar_is_one_key() {
      assertThat(read("{'type':'order'}", true, 200)).containsExactly("get", "get");
      assertThat(read("{'to.city':'Ulm','type':'bill'}", false, 200))
          .containsExactly("get", "get", "get");
    }

    @Test
    void a_type_is_the_first_key_of_a_range() {
      assertThat(read("{'items':{'$type':'array'}}", true, 200)).containsExactly("get", "getRange");
      assertThat(read("{'type':{'$ne':'bill'}}", true, 200)).containsExactly("get", "getRange");
    }

    @Test
    void a_container_is_its_range() {
      assertThat(read("{'items':{'$all':[3,1]}}", true, 400)).containsExactly("get", "getRange");
      assertThat(read("{'to':{'city':'Ulm'}}", true, 200)).containsExactly("get", "get");
    }

    @Test
    void metadata_is_not_read() {
      assertThat(read("{'_id':'a','_rev':'" + revision + "'}", true, 0)).isEmpty();
      assertThat(read("{'_deleted':true}", false, 0)).isEmpty();
      assertThat(read("{}", true, 0)).isEmpty();
    }

    @Test
    void only_a_condition_on_the_whole_document_reads_all_of_it() {
      assertThat(read("{'$and':[{'$keyMapMatch':{'$eq':'_id'}}]}", true, 10_000))
          .containsExactly("get", "getRange");
    }

    @Test
    void a_small_document_is_one_key_whatever_the_selector_looks_at() {
      TestDatabase inline = TestDatabase.create(stores.fresh(), BodyLayout.INLINE);
      RevisionId small = inline.put("a", "{\"type\":\"order\",\"items\":[1,2,3]}");
      for (String selector :
          List.of(
              "{'type':'order','items':{'$all':[3,1]}}",
              "{'items':{'$type':'array'},'none':{'$exists':false}}",
              "{'$and':[{'$keyMapMatch':{'$eq':'_id'}}]}",
              "{'_id':'a','items.1':2}")) {
        assertThat(read(inline, small, selector, true, 100)).containsExactly("get");
      }
      assertThat(read(inline, small, "{'typ':'order'}", false, 100)).containsExactly("get");
    }

    @Test
    void a_small_member_of_a_large_document_costs_no_more_than_going_through_its_text() {
      TestDatabase inline = TestDatabase.create(stores.fresh(), BodyLayout.INLINE);
      String numbers = "0,".repeat(600_000) + "0";
      RevisionId large = inline.put("a", "{\"a\":[" + numbers + "],\"x\":1}");
      ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
      for (String selector :
          List.of("{'x':1}", "{'a':{'$type':'array'}}", "{'a.600000':0,'x':1}")) {
        long before = threads.getCurrentThreadAllocatedBytes();
        assertThat(read(inline, large, selector, true, numbers.length() + 100))
            .containsExactly("get", "getRange");
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        assertThat(allocated).as(selector).isLessThan(4L * numbers.length());
      }
    }

    private List<String> read(String selector, boolean matches, long mostBytes) {
      return read(db, revision, selector, matches, mostBytes);
    }

    private static List<String> read(
        TestDatabase database,
        RevisionId revision,
        String selector,
        boolean matches,
        long mostBytes) {
      byte[] json = selector.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
      Selector compiled = Selector.compile(JsonValue.parse(json));
      return database.read(
          (tx, handle) -> {
            CountedReads counted = new CountedReads(tx);
            SelectedDocuments documents =
                new SelectedDocuments(counted.transaction(), handle, compiled.reads());
            assertThat(documents.matches(compiled, documents.start("a", false, revision)))
                .isEqualTo(matches);
            assertThat(documents.bytesRead()).isLessThanOrEqualTo(mostBytes);
            return counted.reads();
          });
    }
  }

  /** How many documents one transaction looks at, and in which order. */
  @Nested
  class Ahead {
    private static final int MEGABYTE = 1_000_000;

    private static final Duration MAX_TIME = DocumentsAhead.MAX_TIME;

    private long nanos;

    /** A document of so many bytes, of which the first read shows some. */
    private record Document(int number, long firstBytes, long bytes, long computed, long took) {
      static Document small(int number) {
        return new Document(number, 10, 10, 10, 0);
      }
    }

    private final class Counting implements DocumentsAhead.Work<Document, Document, Document> {
      private int mostSteps = Integer.MAX_VALUE;
      private final ConcurrentLinkedQueue<String> steps = new ConcurrentLinkedQueue<>();
      private long bytes;

      @Override
      public Document start(Document document) {
        assertThat(steps.size()).isLessThan(mostSteps);
        add(document.firstBytes);
        steps.add("start");
        return document;
      }

      @Override
      public void goOn(Document started) {
        steps.add("goOn");
      }

      @Override
      public Document finish(Document started) {
        add(started.bytes - started.firstBytes);
        steps.add("finish");
        return started;
      }

      private synchronized void add(long some) {
        bytes += some;
      }

      @Override
      public synchronized long bytesRead() {
        return bytes;
      }

      @Override
      public long sizeOf(Document computed) {
        nanos += computed.took;
        return computed.computed;
      }
    }

    private int done(List<Document> documents) {
      return done(new Counting(), documents, DocumentsAhead.learning());
    }

    private int done(Counting work, List<Document> documents, ReadAhead ahead) {
      List<Document> done =
          new DocumentsAhead<>(ForkJoinPool.commonPool(), work, ahead, () -> nanos).of(documents);
      assertThat(done).isEqualTo(documents.subList(0, done.size()));
      return done.size();
    }

    private static List<Document> some(int count, Document like) {
      return IntStream.range(0, count)
          .mapToObj(i -> new Document(i, like.firstBytes, like.bytes, like.computed, like.took))
          .toList();
    }

    @Test
    void all_reads_of_small_documents_begin_before_one_is_waited_for() {
      ReadAhead ahead = DocumentsAhead.learning();
      done(new Counting(), some(10, Document.small(0)), ahead);

      Counting work = new Counting();
      assertThat(done(work, some(4_000, Document.small(0)), ahead)).isEqualTo(4_000);
      List<String> steps = new ArrayList<>(work.steps);
      assertThat(steps.lastIndexOf("start")).isLessThan(steps.indexOf("goOn"));
      assertThat(steps.lastIndexOf("goOn")).isLessThan(steps.indexOf("finish"));
    }

    @Test
    void few_large_documents_are_read_ahead() {
      ReadAhead ahead = DocumentsAhead.learning();
      done(new Counting(), some(10, new Document(0, 10, 100_000, 0, 0)), ahead);
      assertThat(ahead.size()).isEqualTo(20);

      done(new Counting(), some(10, new Document(0, 10, 50_000, 50_000, 0)), ahead);
      assertThat(ahead.size()).isEqualTo(20);
    }

    @Test
    void none_is_begun_behind_the_bytes_of_a_page() {
      Document large = new Document(0, 0, MEGABYTE, 0, 0);
      int most = (int) (DocumentsAhead.MAX_BYTES / MEGABYTE);

      assertThat(done(some(most, large))).isEqualTo(most);
      assertThat(done(some(most + 1, large))).isEqualTo(most);
      Document larger = new Document(0, 0, 20 * MEGABYTE, 0, 0);
      assertThat(done(some(2, larger))).isEqualTo(1);
    }

    @Test
    void first_reads_are_not_begun_behind_half_the_bytes() {
      Document large = new Document(0, MEGABYTE, MEGABYTE, 0, 0);
      int most = (int) (DocumentsAhead.MAX_BYTES / MEGABYTE / 2);

      assertThat(done(some(most, large))).isEqualTo(most);
      Counting work = new Counting();
      assertThat(done(work, some(100, large), DocumentsAhead.learning())).isEqualTo(most);
      assertThat(work.steps.stream().filter("start"::equals)).hasSize(most);
    }

    @Test
    void what_is_computed_fits_into_a_transaction() {
      Document wide = new Document(0, 0, 0, MEGABYTE, 0);
      int most = (int) (DocumentsAhead.MAX_COMPUTED_BYTES / MEGABYTE);

      assertThat(done(some(most, wide))).isEqualTo(most);
      assertThat(done(some(most + 1, wide))).isEqualTo(most);
      Document wider = new Document(0, 0, 0, 20 * MEGABYTE, 0);
      assertThat(done(some(2, wider))).isEqualTo(1);
    }

    @Test
    void few_helpers_are_asked_at_a_time() {
      List<Integer> askedAt = new ArrayList<>();
      Counting work = new Counting();
      ReadAhead all = new ReadAhead(1_000, 1_000, MEGABYTE);
      assertThat(
              new DocumentsAhead<>(helper -> askedAt.add(work.steps.size()), work, all, () -> nanos)
                  .of(some(1_000, Document.small(0))))
          .hasSize(1_000);

      int first = DocumentsAhead.MAX_PARTS - 1;
      assertThat(askedAt.subList(0, first + 1)).containsExactly(0, 0, 0, DocumentsAhead.PART);
    }

    @Test
    void helpers_that_come_late_begin_none_after_a_failure() {
      List<Runnable> late = new ArrayList<>();
      Counting work = new Counting();
      work.mostSteps = 1;
      ReadAhead all = new ReadAhead(1_000, 1_000, MEGABYTE);
      assertThatThrownBy(
              () ->
                  new DocumentsAhead<>(late::add, work, all, () -> nanos)
                      .of(some(1_000, Document.small(0))))
          .isInstanceOf(AssertionError.class);

      work.mostSteps = Integer.MAX_VALUE;
      assertThat(late).isNotEmpty();
      late.forEach(Runnable::run);
      assertThat(work.steps).containsExactly("start");
    }

    @Test
    void none_is_begun_when_the_time_is_up() {
      ReadAhead oneByOne = new ReadAhead(1, 1, 1);
      long tenth = MAX_TIME.toNanos() / 10;
      Document slow = new Document(0, 0, 0, 0, tenth);

      assertThat(done(new Counting(), some(5, slow), oneByOne)).isEqualTo(5);
      assertThat(done(new Counting(), some(6, slow), oneByOne)).isEqualTo(5);
      Document slower = new Document(0, 0, 0, 0, 20 * tenth);
      assertThat(done(new Counting(), some(2, slower), oneByOne)).isEqualTo(1);
    }
  }
}
