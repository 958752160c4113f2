package lectus.document.read;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.List;
import lectus.database.DatabaseConfiguration.BodyLayout;
import lectus.derived.Selector;
import lectus.document.testing.TestDatabase;
import lectus.json.JsonValue;
import lectus.revision.RevisionId;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Which parts of a document are read to match it. */
final class SelectedDocumentsTest {
  @RegisterExtension static final TestStores stores = new TestStores();

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
    for (String selector : List.of("{'x':1}", "{'a':{'$type':'array'}}", "{'a.600000':0,'x':1}")) {
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
