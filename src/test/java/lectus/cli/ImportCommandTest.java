package lectus.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import lectus.Lectus;
import lectus.account.Admins;
import lectus.audit.testing.SoundStore;
import lectus.config.DocumentKeys;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** {@code import} and {@code compare} between two servers. */
@Timeout(120)
final class ImportCommandTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private static final int LARGEST = 10_000;

  private final LectusServer there = LectusServer.start(stores.fresh());
  private final LectusServer here =
      LectusServer.start(
          stores.fresh(), new TestSettings().with(DocumentKeys.MAX_DOCUMENT_BYTES, LARGEST));
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final Map<String, String> environment = new HashMap<>();

  @AfterEach
  void stop() {
    here.close();
    there.close();
  }

  private int run(String... args) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    return Lectus.run(args, environment, new Console(new PrintWriter(out), new PrintWriter(err)));
  }

  private int load(String... more) {
    return run(
        Stream.concat(Stream.of("import", there.url(), "--url", here.url()), Stream.of(more))
            .toArray(String[]::new));
  }

  private int compare(String... databases) {
    return run(
        Stream.concat(
                Stream.of("compare", "--url", here.url(), "--with", there.url()),
                Stream.of(databases))
            .toArray(String[]::new));
  }

  private static String basic(String both) {
    return "Basic " + Base64.getEncoder().encodeToString(both.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void all_databases_come_with_what_belongs_to_them() {
    there.put("/a%2Fb");
    there.write("/a%2Fb/x", "{\"n\":1}");
    there.write("/a%2Fb/_local/mine", "{\"l\":1}");
    there.put("/a%2Fb/_security", "{\"members\":{\"roles\":[\"team\"]}}");
    there.put("/a%2Fb/_revs_limit", "7");
    there.put("/parts?partitioned=true");
    there.write("/parts/one:x", "{}");
    there.put("/empty");
    there.put("/_users");
    there.write(
        "/_users/org.couchdb.user:bob",
        "{\"name\":\"bob\",\"type\":\"user\",\"roles\":[\"team\"],\"password\":\"apple\"}");
    there.put("/_replicator");

    assertThat(load()).as("%s%s", out, err).isZero();

    assertThat(out.toString().lines().map(it -> it.split(" ")[0]))
        .containsExactly("DATABASE", "_users", "a/b", "empty", "parts");
    assertThat(here.get("/a%2Fb/_security").body()).contains("\"team\"");
    assertThat(here.get("/a%2Fb/_revs_limit").body()).isEqualTo("7\n");
    assertThat(here.get("/a%2Fb/_local/mine").status()).isEqualTo(404);
    assertThat(here.get("/parts").body()).contains("\"partitioned\":true");
    assertThat(here.get("/_replicator").status()).isEqualTo(404);
    assertThat(
            here.request("GET", "/_session")
                .header("Authorization", basic("bob:apple"))
                .send()
                .member("name"))
        .isEqualTo("bob");
    assertThat(compare("_users", "a/b", "empty", "parts")).as("%s%s", out, err).isZero();

    // And again, with what has changed.
    there.write("/a%2Fb/y", "{}");
    assertThat(load("a/b", "--local", "--at-once", "1")).isZero();
    assertThat(here.get("/a%2Fb/y").status()).isEqualTo(200);
    String local = here.get("/a%2Fb/_local/mine").body();
    assertThat(local).contains("\"l\":1");
    assertThat(load("a/b", "--local")).isZero();
    assertThat(here.get("/a%2Fb/_local/mine").body()).isEqualTo(local);
  }

  @Test
  void what_could_not_come_and_what_will_not_run_is_told() {
    there.put("/w");
    there.write("/w/good", "{}");
    there.write("/w/large", "{\"x\":\"" + "x".repeat(LARGEST) + "\"}");
    there.write(
        "/w/_design/d", "{\"lists\":{\"l\":\"function(){}\"},\"shows\":{},\"rewrites\":[]}");
    there.write("/w/_design/e", "{\"language\":\"erlang\",\"views\":{}}");

    assertThat(load("w", "missing")).isOne();

    assertThat(out.toString())
        .containsPattern("w +3 +3 +1\n")
        .containsPattern("missing +0 +0  not complete\n")
        .containsPattern("w: large was refused: .*document_too_large: .* 10000.\n")
        .contains("w: _design/d: _list does not run in Lectus\n")
        .contains("w: _design/d: _rewrite does not run in Lectus\n")
        .contains("w: _design/e: functions in erlang do not run in Lectus\n")
        .contains("missing: the server answered 404");
    assertThat(compare("w")).isOne();
    assertThat(out.toString()).contains("w: large 1-").contains("is missing in " + here.url());

    there.write("/w/more", "{}");
    assertThat(load("w")).isOne();
    assertThat(out.toString()).contains("w: 1 more were refused").doesNotContain("large was");
    assertThat(load("w", "--anew")).isOne();
    assertThat(out.toString()).contains("w: large was refused").doesNotContain("more were");
  }

  @Test
  void names_and_passwords_come_from_urls_or_the_environment() {
    there.put("/_node/_local/_config/admins/ann", "\"secret word\"");
    there.request("PUT", "/w").header("Authorization", basic("ann:secret word")).send();
    environment.put("COUCHDB_SOURCE_USER", "ann");
    environment.put("COUCHDB_SOURCE_PASSWORD", "secret word");
    assertThat(load("w")).as("%s%s", out, err).isZero();
    assertThat(compare("w")).as("%s%s", out, err).isZero();

    environment.clear();
    assertThat(load("w")).isOne();
    String wrong = there.url().replace("//", "//ann:wr%6Fng@");
    assertThat(run("import", wrong, "--url", here.url())).isOne();
    assertThat(err.toString()).hasLineCount(1).doesNotContain("wr%6Fng", "wrong");
    assertThat(run("compare", "w", "--url", here.url(), "--with", wrong + "/w")).isEqualTo(2);
    assertThat(err.toString()).hasLineCount(1).doesNotContain("wr%6Fng", "wrong");
  }

  @Test
  void a_stopped_store_is_filled_and_compared_without_a_password(@TempDir Path folder) {
    Path data = folder.resolve("data");
    there.put("/w");
    there.write("/w/a", "{\"n\":1}");
    try (Store stopped = EmbeddedStores.open(data)) {
      new Admins(stopped).put("root", Admins.hashOf("secret", 10));
      assertThat(run("import", there.url(), "--data", data.toString())).isOne();
      assertThat(err.toString()).contains("already open in this process").hasLineCount(1);
    }
    environment.put("LECTUS_TLS_CERTIFICATE", "/none");
    environment.put("LECTUS_HTTP_HOSTS", "db.example");
    environment.put("LECTUS_CLUSTER", "true");
    assertThat(run("import", there.url(), "w", "--data", data.toString()))
        .as("%s%s", out, err)
        .isZero();
    assertThat(run("compare", "w", "--data", data.toString(), "--with", there.url())).isZero();
    assertThat(run("check", "--data", data.toString())).isZero();
    assertThat(run("import", there.url(), "--data", folder.resolve("no").toString())).isOne();
    assertThat(err.toString()).contains("holds no Lectus store").hasLineCount(1);
    assertThat(folder.resolve("no")).doesNotExist();
  }

  @Test
  void a_mistake_is_one_sentence() {
    there.put("/w");
    assertThat(compare("w", "nothing")).isEqualTo(2);
    assertThat(run("compare", "a", "b", "--url", here.url(), "--with", there.url() + "/a"))
        .isEqualTo(2);
    assertThat(err.toString()).hasLineCount(1);
    assertThat(run("compare", "a", "--url", here.url())).isEqualTo(2);
    assertThat(run("import", "ftp://x", "--url", here.url())).isEqualTo(1);
    assertThat(err.toString()).hasLineCount(1);
    assertThat(run("import", "http://127.0.0.1:1", "--url", here.url())).isEqualTo(1);
    assertThat(err.toString()).hasLineCount(1).contains("no server answers at http://127.0.0.1:1");
    assertThat(load("w", "--at-once", "0")).isEqualTo(1);
  }
}
