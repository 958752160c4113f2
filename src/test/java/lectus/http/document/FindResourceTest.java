package lectus.http.document;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code /{db}/_find} and {@code _explain}, as CouchDB 3.5 answers. */
final class FindResourceTest {
  @RegisterExtension static final LectusServer server = LectusServer.shared();

  private static final Pattern ID = Pattern.compile("\"_id\":\"([^\"]*)\"");
  private static final String NO_INDEX =
      "No matching index found, create an index to optimize query time.";

  @BeforeEach
  void fill() {
    server.put("/d");
    for (int i = 0; i < 40; i++) {
      put("d" + (100 + i), "{'a':" + i % 10 + ",'b':'x" + i + "','c':[" + i + "]}");
    }
    put("_design/none", "{'a':1}");
  }

  private void put(String id, String body) {
    server.put("/d/" + id, json(body)).expect(201);
  }

  private Answer find(String body) {
    return server.post("/d/_find", json(body));
  }

  private Answer explain(String body) {
    return server.post("/d/_explain", json(body));
  }

  private void index(String design, String fields) {
    String body = "{'index':{'fields':[" + fields + "]},'ddoc':'" + design + "','name':'n'}";
    server.post("/d/_index", json(body)).expect(200);
  }

  private static List<String> ids(Answer answer) {
    assertThat(answer.status()).as(answer.body()).isEqualTo(200);
    return ID.matcher(answer.body()).results().map(it -> it.group(1)).toList();
  }

  private static String bookmark(Answer answer) {
    MatchResult found =
        Pattern.compile(json("'bookmark': '([^']*)'"))
            .matcher(answer.body())
            .results()
            .findFirst()
            .get();
    return found.group(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "{'$lt':{}} | 0", "{'$lte':{}} | 0", "{'$gt':{}} | 40", "{'$gte':{}} | 40",
        "{'$lt':[]} | 0", "{'$gte':[1]} | 40", "{'$gt':{},'$lte':'d101'} | 2", "{'$gt':null} | 40",
        "{'$lt':9} | 0", "{'$gte':true} | 40"
      })
  void ids_come_after_all_values_that_are_no_strings(String condition, int found) {
    for (String sort : List.of("", ",'sort':[{'_id':'desc'}]")) {
      String body = "{'selector':{'_id':" + condition + "}" + sort + ",'limit':99}";
      assertThat(ids(find(body))).hasSize(found);
    }
  }

  @Test
  void attachments_are_found_and_shown_as_stubs() {
    put(
        "with",
        "{'A':1,'z':1,'_attachments':{'a.txt':{'content_type':'image/png','data':'YWI='},"
            + "'b':{'content_type':'text/css','data':'YQ=='}}}");
    String stub =
        "'a.txt':{'content_type':'image/png','digest':'md5-GH70Q2Ei0cwvQNwrkvDroA==',"
            + "'length':2,'revpos':1,'stub':true}";

    for (String selector :
        List.of(
            "{'_attachments':{'$exists':true}}",
            "{'_attachments.a\\\\.txt.length':2}",
            "{'_attachments.b.content_type':{'$regex':'css'},'z':1}")) {
      assertThat(ids(find("{'selector':" + selector + "}"))).containsExactly("with");
    }
    assertThat(ids(find("{'selector':{'_attachments':{'$exists':false}},'limit':100}")))
        .hasSize(40);
    assertThat(find("{'selector':{'z':1},'fields':['z','_attachments.a\\\\.txt','A']}").body())
        .contains(json("{'A':1,'z':1,'_attachments':{" + stub + "}}"));
    assertThat(find("{'selector':{'z':1},'fields':['_attachments']}").body())
        .contains(json("{'_attachments':{" + stub + ",'b':{'content_type':'text/css'"));
    assertThat(find("{'selector':{'a':1},'fields':['_attachments','a'],'limit':1}").body())
        .contains(json("{'a':1}"));
    assertThat(server.post("/d/_index", json("{'index':{'fields':['_attachments.b']}}")).body())
        .contains("invalid_index", "An index has no attachments.");
  }

  @Test
  void of_an_array_elements_are_shown_by_their_numbers() {
    put("m", "{'z':1,'m':[{'x':[1,2]},3,[4,5,6]],'n':{'0':7}}");
    String selected = "{'selector':{'z':1},'fields':[";

    assertThat(find(selected + "'m.0']}").body()).contains(json("{'m':{'0':{'x':[1,2]}}}"));
    assertThat(find(selected + "'n.0','m.2.1','m.1','m.0.x.1']}").body())
        .contains(json("{'m':{'0':{'x':{'1':2}},'1':3,'2':{'1':5}},'n':{'0':7}}"));
    assertThat(find(selected + "'m','m.0']}").body())
        .contains(json("{'m':[{'x':[1,2]},3,[4,5,6]]}"));
  }

  @Test
  void without_an_index_all_documents_are_looked_at() {
    Answer answer = find("{'selector':{'a':3},'fields':['_id','a']}");

    assertThat(answer.body())
        .startsWith(json("{'docs':[\r\n{'_id':'d103','a':3},\r\n{'_id':'d113','a':3}"))
        .contains(
            "],\r\n\"bookmark\": \"",
            "\"warning\": \"" + NO_INDEX + "\\nThe number of documents examined is high");
    assertThat(ids(answer)).containsExactly("d103", "d113", "d123", "d133");
  }

  @Test
  void an_index_is_taken_and_sorts() {
    index("x", "'a','b'");

    Answer answer = find("{'selector':{'a':{'$gte':8}},'sort':[{'a':'desc'},{'b':'desc'}]}");
    assertThat(ids(answer))
        .containsExactly("d109", "d139", "d129", "d119", "d108", "d138", "d128", "d118");
    assertThat(answer.body()).doesNotContain("warning");
    assertThat(ids(find("{'selector':{'a':8},'sort':['b']}")))
        .containsExactly("d118", "d128", "d138", "d108");
  }

  @Test
  void a_sort_of_many_fields_is_compared_with_indexes_at_once() {
    String sort =
        IntStream.range(0, 100_000).mapToObj(i -> "'f" + i + "'").collect(Collectors.joining(","));
    Answer answer = find("{'selector':{},'sort':[" + sort + "]}");
    assertThat(answer.member("error")).isEqualTo("no_usable_index");
  }

  @Test
  void pages_go_on_from_bookmarks() {
    index("x", "'a'");
    for (String sort : List.of("", ",'sort':['a']", ",'sort':[{'a':'desc'}]")) {
      for (String selector :
          List.of("{'a':{'$gt':3}}", "{'a':{'$in':[1,5,7]}}", "{'b':{'$gt':null}}")) {
        if (selector.contains("'b'") && !sort.isEmpty()) {
          continue;
        }
        String query = "'selector':" + selector + sort;
        List<String> all = ids(find("{" + query + ",'limit':100}"));
        List<String> paged = new ArrayList<>();
        String bookmark = "";
        List<String> page;
        do {
          Answer answer = find("{" + query + ",'limit':7,'bookmark':'" + bookmark + "'}");
          page = ids(answer);
          paged.addAll(page);
          bookmark = bookmark(answer);
        } while (!page.isEmpty());
        assertThat(paged).as(query).isEqualTo(all).isNotEmpty();
      }
    }
  }

  @Test
  void a_bookmark_of_an_index_that_was_made_anew_is_not_taken() {
    index("x", "'a'");
    index("y", "'c'");
    String query = "{'selector':{'a':{'$gt':3}},'limit':7,'bookmark':'%s'}";
    String bookmark = bookmark(find(query.formatted("")));
    assertThat(ids(find(query.formatted(bookmark)))).hasSize(7);
    for (String design : List.of("x", "y")) {
      String path = "/d/_index/" + design + "/json/n";
      server.delete(path).expect(200);
    }
    index("x", "'a'");

    Answer answer = find(query.formatted(bookmark)).expect(400);
    assertThat(answer.member("error")).isEqualTo("invalid_bookmark");
  }

  @Test
  void a_bookmark_of_a_database_that_was_made_anew_is_not_taken() {
    String query = "{'selector':{},'limit':7,'bookmark':'%s'}";
    String bookmark = bookmark(find(query.formatted("")));
    assertThat(ids(find(query.formatted(bookmark)))).hasSize(7);
    server.delete("/d");
    fill();

    assertThat(find(query.formatted(bookmark)).member("error")).isEqualTo("invalid_bookmark");
  }

  @Test
  void a_limit_has_18_digits_at_most() {
    String digits = "9".repeat(18);
    find("{'selector':{'a':3},'limit':" + digits + "}").expect(200);
    Answer refused = find("{'selector':{'a':3},'limit':1" + digits + "}").expect(400);
    assertThat(refused.member("reason")).isEqualTo("`limit` has more than 18 digits: 1" + digits);
  }

  @Test
  void skip_and_limit_count_matches() {
    assertThat(ids(find("{'selector':{'a':3},'skip':1,'limit':2}")))
        .containsExactly("d113", "d123");
    assertThat(ids(find("{'selector':{'a':3},'limit':0}"))).isEmpty();
    assertThat(ids(find("{'selector':{'a':3},'skip':9}"))).isEmpty();
    assertThat(ids(find("{'selector':{}}"))).hasSize(25);
  }

  @Test
  void alternatives_are_ranges() {
    index("x", "'a'");
    for (String selector :
        List.of("{'a':{'$in':[1,5,77]}}", "{'$or':[{'a':1},{'a':5,'b':{'$gt':null}}]}")) {
      String query = "{'selector':" + selector + ",'execution_stats':true}";
      Answer answer = find(query);
      assertThat(ids(answer)).hasSize(8);
      assertThat(answer.body()).contains("\"total_keys_examined\":8,\"total_docs_examined\":8");
      assertThat(explain(query).body()).contains("\"n\"", "\"rows\":8");
    }
  }

  @Test
  void an_array_with_such_an_element_is_found_by_an_index_too() {
    put("array", "{'a':[1,2]}");
    List<String> scanned = ids(find("{'selector':{'a':{'$in':[2]}},'sort':[]}"));
    index("x", "'a'");

    assertThat(ids(find("{'selector':{'a':{'$in':[2]}}}")))
        .containsExactlyInAnyOrderElementsOf(scanned)
        .contains("array");
  }

  @Test
  void what_an_index_has_is_not_read_from_documents() {
    index("x", "'a','b'");
    String query =
        "{'selector':{'a':4,'b':{'$gt':null}},'fields':['_id','b','a'],'execution_stats':true}";
    Answer answer = find(query);

    assertThat(answer.body())
        .contains(json("{'_id':'d104','a':4,'b':'x4'}"), "\"total_docs_examined\":0");
    assertThat(explain(query).body()).contains("\"covering\":true");
  }

  @Test
  void ids_are_ranges_of_the_list_of_documents() {
    String query = "{'selector':{'_id':{'$gt':'d105','$lte':'d108'}},'execution_stats':true}";

    assertThat(ids(find(query))).containsExactly("d106", "d107", "d108");
    assertThat(find(query).body()).contains("\"total_keys_examined\":3");
    assertThat(ids(find("{'selector':{'_id':{'$beginsWith':'d10'}}}"))).hasSize(10);
    assertThat(ids(find("{'selector':{'_id':{'$in':['d103','d101','z']}}}"))).hasSize(2);
  }

  @Test
  void use_index_is_a_wish_or_with_allow_fallback_an_order() {
    index("x", "'a'");
    index("y", "'b'");

    assertThat(explain("{'selector':{'a':1,'b':'x1'},'use_index':'y'}").body())
        .contains(json("'index':{'ddoc':'_design/y'"));
    Answer other = find("{'selector':{'a':1},'use_index':['y','n']}");
    assertThat(other.body())
        .contains("_design/y, n was not used because it is not a valid index for this query.");
    Answer refused =
        find("{'selector':{'a':1},'use_index':'y','allow_fallback':false}").expect(400);
    assertThat(refused.member("error")).isEqualTo("invalid_index");
  }

  @Test
  void a_partial_index_is_used_if_it_is_named() {
    server.post(
        "/d/_index",
        json(
            "{'index':{'fields':['a'],'partial_filter_selector':{'b':'x3'}},'ddoc':'p','name':'n'}"));

    assertThat(ids(find("{'selector':{'a':3}}"))).hasSize(4);
    assertThat(ids(find("{'selector':{'a':3},'use_index':'p'}"))).containsExactly("d103");
    assertThat(explain("{'selector':{'a':3}}").body()).contains("\"is_partial\"");
  }

  @Test
  void a_partition_has_its_own_queries() {
    server.put("/p?partitioned=true");
    for (String id : List.of("x:1", "x:2", "y:1")) {
      server.put("/p/" + id, json("{'a':1}"));
    }
    server.post("/p/_index", json("{'index':{'fields':['a']},'ddoc':'i','name':'n'}"));
    String query = json("{'selector':{'a':1}}");

    Answer ofPartition = server.post("/p/_partition/x/_find", query);
    assertThat(ids(ofPartition)).containsExactly("x:1", "x:2");
    assertThat(ofPartition.body()).doesNotContain("warning");
    assertThat(ids(server.post("/p/_find", query))).containsExactly("x:1", "x:2", "y:1");
    assertThat(server.post("/p/_find", query).body()).contains(NO_INDEX);
    assertThat(server.post("/p/_partition/x/_explain", query).body())
        .contains("\"partition\":\"x\"", "\"n\"");
    server.post("/d/_partition/x/_find", query).expect(400);
  }

  @Test
  void conflicts_are_shown_if_they_are_asked_for() {
    server.post(
        "/d/_bulk_docs",
        json(
            "{'new_edits':false,'docs':[{'_id':'c','_rev':'1-a','z':1},{'_id':'c','_rev':'1-b','z':1}]}"));

    assertThat(find("{'selector':{'z':1},'conflicts':true}").body())
        .contains(json("'_conflicts':['1-a']"));
    assertThat(find("{'selector':{'z':1}}").body()).doesNotContain("_conflicts");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'_conflicts':{'$exists':true}}",
        "{'_conflicts':{'$size':1}}",
        "{'_conflicts.0':'1-a'}",
        "{'_conflicts':['1-a']}",
        "{'_conflicts':{'$elemMatch':{'$eq':'1-a'}},'z':1}",
        "{'_conflicts':{'$type':'array'},'_id':{'$gt':'b'}}",
        "{'z':1,'$not':{'_conflicts':{'$exists':false}}}",
        "{'z':{'$gt':0},'$or':[{'_conflicts':{'$exists':true}},{'z':3}]}"
      })
  void selectors_see_conflicts_that_are_asked_for(String selector) {
    putConflicts();
    String query = "{'selector':" + selector + ",'fields':['_id','_conflicts']";

    assertThat(find(query + ",'conflicts':true}").body())
        .contains(json("{'_id':'c','_conflicts':['1-a']}"))
        .doesNotContain("lone", "dead");
    assertThat(ids(find(query + "}"))).isEmpty();
    server.post("/d/_index", json("{'index':{'fields':['z']},'name':'z'}"));
    assertThat(ids(find(query + ",'conflicts':true}"))).containsExactly("c");
  }

  @Test
  void a_deleted_branch_is_no_conflict_that_a_selector_sees() {
    putConflicts();

    String query = "{'selector':{'z':{'$gt':0},'_conflicts':{'$exists':false}}";
    assertThat(ids(find(query + ",'conflicts':true}"))).containsExactly("dead", "lone");
    assertThat(ids(find(query + "}"))).containsExactly("c", "dead", "lone");
  }

  @Test
  void single_conflicts_are_shown_by_their_numbers() {
    putConflicts();

    assertThat(find("{'selector':{'z':1},'conflicts':true,'fields':['_conflicts.0']}").body())
        .contains(json("{'_conflicts':{'0':'1-a'}}"));
    assertThat(find("{'selector':{'z':1},'fields':['_conflicts.0']}").body())
        .contains("[\r\n{}\r\n]");
  }

  @Test
  void an_index_of_conflicts_is_made_and_has_none() {
    putConflicts();
    String define = "{'index':{'fields':['_conflicts']},'ddoc':'c','name':'n'}";
    Answer made = server.post("/d/_index", json(define));
    assertThat(made.body()).contains("\"result\":\"created\"");
    String all =
        "{'index':{'fields':['z'],'partial_filter_selector':{'_conflicts':{'$exists':%s}}},";
    for (String exists : List.of("true", "false")) {
      String body = all.formatted(exists) + "'ddoc':'" + exists + "','name':'n'}";
      server.post("/d/_index", json(body)).expect(200);
    }

    String none = "{'selector':{'_conflicts':{'$exists':true}},'execution_stats':true";
    assertThat(find(none + "}").body())
        .contains("\"docs\":[\r\n]", "\"total_keys_examined\":0")
        .doesNotContain("No matching index");
    assertThat(explain(none + ",'conflicts':true}").body())
        .contains("\"type\":\"special\"", "field_mismatch");
    assertThat(ids(find(none + ",'conflicts':true}"))).containsExactly("c");
    String partial = "{'selector':{'z':{'$gt':0},'_conflicts':{'$exists':%s}},'use_index':'%s'}";
    assertThat(ids(find(partial.formatted("false", "false"))))
        .containsExactlyInAnyOrder("c", "dead", "lone");
    assertThat(ids(find(partial.formatted("true", "true")))).isEmpty();
  }

  @Test
  void an_index_of_conflicts_is_made_of_a_replicated_design_document_too() {
    putConflicts();
    put(
        "_design/c?new_edits=false",
        "{'_rev':'1-x','language':'query','views':{'n':{'map':{'fields':{'_conflicts':'asc'},"
            + "'partial_filter_selector':{}},'reduce':'_count',"
            + "'options':{'def':{'fields':['_conflicts']}}}}}");

    assertThat(server.get("/d/_index").body()).contains("\"ddoc\":\"_design/c\"");
    assertThat(ids(find("{'selector':{'_conflicts':{'$exists':true}},'use_index':'c'}"))).isEmpty();
  }

  private void putConflicts() {
    server.post(
        "/d/_bulk_docs",
        json(
            "{'new_edits':false,'docs':["
                + "{'_id':'c','_rev':'1-a','z':1},{'_id':'c','_rev':'1-b','z':1},"
                + "{'_id':'dead','_rev':'1-a','z':2},"
                + "{'_id':'dead','_rev':'1-b','_deleted':true},"
                + "{'_id':'lone','_rev':'1-a','z':2}]}"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{}                                              | missing_required_key",
        "{'selector':1}                                  | invalid_selector_json",
        "{'selector':{'a':{'$in':1}}}                    | bad_arg",
        "{'selector':{},'limit':-1}                      | invalid_non_neg_integer",
        "{'selector':{},'limit':'x'}                     | invalid_non_neg_integer",
        "{'selector':{},'skip':1.5}                      | invalid_non_neg_integer",
        "{'selector':{},'r':0}                           | invalid_pos_integer",
        "{'selector':{},'sort':['zz']}                   | no_usable_index",
        "{'selector':{},'sort':[{'a':'asc'},{'b':'desc'}]} | unsupported_mixed_sort",
        "{'selector':{},'sort':1}                        | invalid_sort_json",
        "{'selector':{},'fields':'a'}                    | invalid_fields",
        "{'selector':{},'fields':[1]}                    | invalid_field",
        "{'selector':{},'use_index':1}                   | invalid_index_name",
        "{'selector':{},'use_index':'a/b/c'}             | invalid_index_name",
        "{'selector':{},'bookmark':1}                    | invalid_bookmark",
        "{'selector':{},'bookmark':'bad'}                | invalid_bookmark",
        "{'selector':{},'bookmark':'HA'}                 | invalid_bookmark",
        "{'selector':{},'bookmark':'DA'}                 | invalid_bookmark",
        "{'selector':{},'conflicts':1}                   | invalid_boolean",
        "{'selector':{},'execution_stats':'x'}           | invalid_boolean",
        "{'selector':{},'unknown':1}                     | invalid_key",
        "{'selector':{},'partition':'_x'}                | illegal_partition"
      })
  void what_is_wrong_with_a_query_is_told(String body, String error) {
    Answer answer = find(body);

    assertThat(answer.member("error")).isEqualTo(error);
    answer.expect(400);
  }

  @Test
  void a_query_that_nothing_can_match_reads_nothing() {
    assertThat(find("{'selector':{'a':{'$gt':3,'$lt':2}}}").body()).startsWith("{\"docs\":[\r\n]");
    index("x", "'a'");
    assertThat(find("{'selector':{'a':{'$gt':3,'$lt':2}}}").body())
        .isEqualTo("{\"docs\":[\r\n]}\r\n");
  }

  @Test
  void an_explanation_says_why_others_were_not_taken() {
    index("x", "'a'");
    index("y", "'a','b'");
    index("z", "'c'");

    String body = explain("{'selector':{'a':{'$gt':1}}}").body();
    assertThat(body)
        .contains(
            json("'index':{'ddoc':'_design/x','name':'n','type':'json','partitioned':false"),
            json("'selector':{'a':{'$gt':1}}"),
            json(
                "'opts':{'use_index':[],'bookmark':'nil','limit':25,'skip':0,'sort':{},'fields':[],"),
            json("'reasons':[{'name':'field_mismatch'}]"),
            json("'reasons':[{'name':'unfavored_type'}]"),
            json(
                "'selector_hints':[{'type':'json','indexable_fields':['a'],'unindexable_fields':[]}]"),
            json("'start_key':[1],'end_key':['<MAX>'],'direction':'fwd'"));
  }
}
