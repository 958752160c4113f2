package lectus.http.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class RouteTemplateTest {
  @ParameterizedTest
  @CsvSource({
    "_all_dbs, /_all_dbs",
    "_node/secret/_stats, /_node",
    "_secret, other",
    "secret, /{db}",
    "_users, /{db}",
    "secret/secret, /{db}/{docid}",
    "_users/org.couchdb.user:secret, /{db}/{docid}",
    "secret/secret/secret.png, /{db}/{docid}/{attachment}",
    "secret/_all_docs, /{db}/_all_docs",
    "secret/_all_docs/queries, /{db}/_all_docs",
    "secret/_design/secret, /{db}/_design",
    "secret/_design/secret/_info, /{db}/_design",
    "secret/_design/secret/_view, /{db}/_design",
    "secret/_design/secret/_view/secret, /{db}/_design/{ddoc}/_view/{view}",
    "secret/_design/secret/_view/secret/queries, /{db}/_design/{ddoc}/_view/{view}",
    "secret/_partition/secret/_design/secret/_view/secret, /{db}/_design/{ddoc}/_view/{view}",
    "secret/_partition/secret/_all_docs, /{db}/_partition",
    "secret/_partition/_design, /{db}/_partition",
    "secret/_local/secret, /{db}/_local",
    "secret/_secret, other",
    "secret/_design%2Fsecret, other",
  })
  void a_path_shows_no_names(String path, String template) {
    assertThat(RouteTemplate.of(Arrays.asList(path.split("/"))).text()).isEqualTo(template);
  }

  @Test
  void the_root_and_what_cannot_be_read_are_routes_too() {
    assertThat(RouteTemplate.of(List.of()).text()).isEqualTo("/");
    assertThat(RouteTemplate.of(List.of("", "")).text()).isEqualTo("/{db}/{docid}");
    assertThat(RouteTemplate.unknown().text()).isEqualTo("other");
  }
}
