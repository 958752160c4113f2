package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import lectus.changes.filter.FeedFilter;
import lectus.changes.notify.StorePosition;
import lectus.changes.page.ChangesReader;
import lectus.changes.page.FeedOptions;
import lectus.changes.page.FeedPosition;
import lectus.changes.page.Since;
import lectus.database.DatabaseName;
import lectus.http.changes.ClientMessage.Credit;
import lectus.http.changes.ClientMessage.Malformed;
import lectus.http.changes.ClientMessage.ManyNames;
import lectus.http.changes.ClientMessage.OneDatabase;
import lectus.http.changes.ClientMessage.Subscribe;
import lectus.http.changes.ClientMessage.Unsubscribe;
import lectus.http.changes.LiveListener.FeedTerms;
import lectus.json.FieldPath;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ClientMessageTest {

  /** Parses JSON with apostrophes for quotes. */
  private static ClientMessage parse(String json) {
    return ClientMessage.parse(json.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
  }

  private static Subscribe subscribe(String members) {
    return (Subscribe) parse("{'type':'subscribe','id':'a'," + members + "}");
  }

  private static String complaint(String json) {
    return ((Malformed) parse(json)).error().reason();
  }

  @Test
  void a_subscription_without_wishes() {
    Subscribe plain = subscribe("'db':'x'");
    assertThat(plain.id()).isEqualTo("a");
    assertThat(plain.scope())
        .isEqualTo(new OneDatabase(DatabaseName.of("x"), Since.after(FeedPosition.BEGINNING)));
    assertThat(plain.options().compile()).isEqualTo(FeedOptions.DEFAULT);
    assertThat(plain.options().memory()).isZero();
    assertThat(plain.terms())
        .isEqualTo(
            new FeedTerms(ChangesReader.NO_LIMIT, OptionalLong.empty(), OptionalLong.empty()));
    assertThat(plain.credits()).isEmpty();
  }

  @Test
  void a_subscription_with_all_wishes() {
    Subscribe wanted =
        subscribe(
            "'db':'x','since':'now','include_docs':true,'conflicts':true,'style':'all_docs',"
                + "'doc_ids':['p','q'],'limit':7,'heartbeat':5000,'credits':1000");

    assertThat(wanted.options().compile())
        .isEqualTo(
            new FeedOptions(true, true, true, new FeedFilter.DocumentIds(Set.of("p", "q")), 1));
    assertThat(wanted.terms().limit()).isEqualTo(7);
    assertThat(wanted.terms().heartbeatMillis()).hasValue(5_000);
    assertThat(wanted.credits()).hasValue(1000);
  }

  @Test
  void a_selector_and_fields() {
    FeedOptions options =
        subscribe("'db':'x','selector':{'v':{'$gt':1}},'fields':['v','w.x']").options().compile();

    assertThat(options.filter()).isInstanceOf(FeedFilter.Selected.class);
    assertThat(options.fields())
        .containsExactly(FieldPath.parse("v"), new FieldPath(List.of("w", "x")));
    String subscribe = "{'type':'subscribe','id':'a','db':'x',";
    assertThat(complaint(subscribe + "'selector':{},'doc_ids':[]}"))
        .isEqualTo("A subscription has one of `selector`, `doc_ids`, `feed` and `filter`.");
  }

  /** Lengthy checks are done when the subscription opens. */
  @Test
  void a_filter_is_not_compiled_yet() {
    assertThatThrownBy(subscribe("'db':'x','selector':{'$foo':1}").options()::compile)
        .hasMessageContaining("Invalid operator: $foo");
    assertThatThrownBy(subscribe("'db':'x','fields':'v'").options()::compile)
        .hasMessageContaining("Selector error: fields must be JSON array");
    assertThatThrownBy(subscribe("'db':'x','doc_ids':[1]").options()::compile)
        .hasMessageContaining("not a list of doc ids");
  }

  @Test
  void a_pattern_and_a_list_are_many_databases_even_of_one() {
    assertThat(subscribe("'db':'user-*'").scope())
        .isEqualTo(new ManyNames(List.of("user-*"), Since.after(StorePosition.BEGINNING)));
    assertThat(subscribe("'db':['x'],'since':'now'").scope())
        .isEqualTo(new ManyNames(List.of("x"), Since.now()));
  }

  @ParameterizedTest
  @CsvSource({"true, 60000", "1, 1000", "1001, 1001", "2147483647, 86400000"})
  void heartbeats(String json, long millis) {
    assertThat(subscribe("'db':'x','heartbeat':" + json).terms().heartbeatMillis())
        .hasValue(millis);
  }

  @Test
  void no_heartbeat() {
    assertThat(subscribe("'db':'x','heartbeat':false").terms().heartbeatMillis()).isEmpty();
  }

  @Test
  void since_may_be_the_number_zero() {
    assertThat(subscribe("'db':'x','since':0").scope())
        .isEqualTo(new OneDatabase(DatabaseName.of("x"), Since.after(FeedPosition.BEGINNING)));
  }

  @Test
  void credit_and_unsubscribe() {
    assertThat(parse("{'type':'credit','id':'a','n':500}")).isEqualTo(new Credit("a", 500));
    assertThat(parse("{'type':'unsubscribe','id':'a'}")).isEqualTo(new Unsubscribe("a"));
  }

  @Test
  void an_id_has_1_to_128_characters() {
    String longest = "i".repeat(128);
    assertThat(parse("{'type':'unsubscribe','id':'" + longest + "'}"))
        .isEqualTo(new Unsubscribe(longest));
    String complaint = "`id` must be a string of 1 to 128 characters.";
    assertThat(complaint("{'type':'unsubscribe','id':'" + longest + "i'}")).isEqualTo(complaint);
    assertThat(complaint("{'type':'unsubscribe','id':''}")).isEqualTo(complaint);
  }

  @Test
  void credits_are_whole_numbers_up_to_a_billion() {
    assertThat(subscribe("'db':'x','credits':0").credits()).hasValue(0);
    assertThat(subscribe("'db':'x','credits':1000000000").credits()).hasValue(1000000000);
    for (String bad :
        List.of("-1", "1000000001", "1.5", "1e3", "'1'", "null", "99999999999999999999")) {
      assertThat(complaint("{'type':'subscribe','id':'a','db':'x','credits':" + bad + "}"))
          .isEqualTo("`credits` must be a whole number from 0 to 1000000000.");
    }
  }

  @Test
  void more_credits_are_at_least_one() {
    assertThat(parse("{'type':'credit','id':'a','n':1}")).isEqualTo(new Credit("a", 1));
    assertThat(parse("{'type':'credit','id':'a','n':1000000000}"))
        .isEqualTo(new Credit("a", 1000000000));
    for (String bad : List.of("0", "-5", "1000000001", "true", "[1]")) {
      assertThat(complaint("{'type':'credit','id':'a','n':" + bad + "}"))
          .isEqualTo("`n` must be a whole number from 1 to 1000000000.");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "nothing",
        "[]",
        "'text'",
        "17",
        "{'type':'subscribe'",
        "{} {}",
        "{'type':'subscribe',}"
      })
  void what_is_no_object_has_no_id(String text) {
    assertThat(parse(text))
        .isInstanceOfSatisfying(
            Malformed.class,
            malformed -> {
              assertThat(malformed.id()).isEmpty();
              assertThat(malformed.error().error()).isEqualTo("bad_request");
            });
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "{'id':'a'} | `type` is missing.",
        "{'type':7,'id':'a'} | `type` must be a string.",
        "{'type':'row','id':'a'} | `type` must be subscribe, credit or unsubscribe.",
        "{'type':'credit','id':'a'} | `n` is missing.",
        "{'type':'credit','id':'a','n':1,'m':1} | A message of this type has no member `m`.",
        "{'type':'unsubscribe','id':'a','n':1} | A message of this type has no member `n`.",
        "{'type':'subscribe','id':'a'} | `db` is missing.",
        "{'type':'subscribe','id':'a','db':[]} | `db` must be the name of a database, a pattern"
            + " such as \"user-*\", or a list of these.",
        "{'type':'subscribe','id':'a','db':['x',1]} | `db` must be a string.",
        "{'type':'subscribe','id':'a','db':'*','since':'14000000000017f4b100000000'} | Malformed"
            + " sequence supplied in 'since' parameter.",
        "{'type':'subscribe','id':'a','db':'x','since':'0000000017f4b10000000000'} | Malformed"
            + " sequence supplied in 'since' parameter.",
        "{'type':'subscribe','id':'a','db':'x','since':1} | `since` must be a string.",
        "{'type':'subscribe','id':'a','db':'x','since':'1-x'} | Malformed sequence supplied in"
            + " 'since' parameter.",
        "{'type':'subscribe','id':'a','db':'x','include_docs':'true'} | `include_docs` must be"
            + " true or false.",
        "{'type':'subscribe','id':'a','db':'x','style':'none'} | The style should be main_only or"
            + " all_docs",
        "{'type':'subscribe','id':'a','db':'x','heartbeat':0} | `heartbeat` must be a whole number"
            + " from 1 to 2147483647.",
        "{'type':'subscribe','id':'a','db':'x','include_doc':true} | A message of this type has no"
            + " member `include_doc`.",
      })
  void what_is_wrong_with_a_message_of_known_id(String json, String complaint) {
    Malformed malformed = (Malformed) parse(json);
    assertThat(malformed.id()).isEqualTo(Optional.of("a"));
    assertThat(malformed.error().reason()).isEqualTo(complaint);
  }

  @Test
  void a_list_of_databases_has_a_limit_for_names_and_one_for_patterns() {
    assertThat(parse(listing(10_000, 1_000))).isInstanceOf(Subscribe.class);
    Malformed names = (Malformed) parse(listing(10_001, 0));
    assertThat(names.error().error()).isEqualTo("bad_request");
    assertThat(names.error().reason()).isEqualTo("`db` may have 10000 names.");
    Malformed patterns = (Malformed) parse(listing(0, 1_001));
    assertThat(patterns.error().error()).isEqualTo("bad_request");
    assertThat(patterns.error().reason()).isEqualTo("`db` may have 1000 patterns.");
  }

  private static String listing(int names, int patterns) {
    return Stream.concat(
            IntStream.range(0, names).mapToObj(i -> "'n" + i + "'"),
            IntStream.range(0, patterns).mapToObj(i -> "'p" + i + "*'"))
        .collect(Collectors.joining(",", "{'type':'subscribe','id':'a','db':[", "]}"));
  }

  /** Each takes memory beside its text. */
  @Test
  void the_names_of_many_databases_take_memory() {
    assertThat(subscribe("'db':'xyz'").scope().memory()).isZero();
    assertThat(subscribe("'db':['xyz','a*']").scope().memory()).isEqualTo(2 * 400 + 5);
  }

  @Test
  void a_pattern_of_what_cannot_be_is_found_when_the_subscription_opens() {
    ManyNames scope = (ManyNames) subscribe("'db':'No*'").scope();
    assertThatThrownBy(scope::compile).hasMessageContaining("illegal_database_name");
  }

  @Test
  void a_database_that_cannot_be() {
    Malformed malformed = (Malformed) parse("{'type':'subscribe','id':'a','db':'No'}");
    assertThat(malformed.error().error()).isEqualTo("illegal_database_name");
  }
}
