package lectus.http.document;

import static lectus.http.document.Conflicts.CONFLICT;
import static org.assertj.core.api.Assertions.assertThat;

import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** COPY of documents. */
final class CopiedDocumentsTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private final LectusServer server = LectusServer.start(stores.fresh());

  @BeforeEach
  void create() {
    server.put("/w");
  }

  @AfterEach
  void stop() {
    server.close();
  }

  @Test
  void copy_makes_and_replaces() {
    server.write("/w/s", "{\"v\":1,\"o\":{\"a\":[1,2]}}");
    server.write("/w/empty", "{}");
    String target = server.write("/w/f", "{}");

    Answer made = server.request("COPY", "/w/s").header("Destination", "g%2Fh").send();
    assertThat(made.status()).isEqualTo(201);
    assertThat(made.member("id")).isEqualTo("g/h");
    assertThat(made.header("location")).isEqualTo("http://host/w/g%2Fh");
    assertThat(made.header("etag")).isEqualTo("\"" + made.member("rev") + "\"");
    assertThat(server.get("/w/g%2Fh").body()).endsWith("\"v\":1,\"o\":{\"a\":[1,2]}}\n");
    Answer over =
        server.request("COPY", "/w/empty").header("Destination", "f?rev=" + target).send();
    assertThat(over.member("rev")).startsWith("2-");
    assertThat(server.request("COPY", "/w/s").header("Destination", "f").send().body())
        .isEqualTo(CONFLICT);
  }

  @Test
  void local_documents_can_be_copied_and_copies() {
    server.write("/w/s", "{\"v\":1}");
    server.write("/w/_local/l", "{\"v\":2}");

    Answer local = server.request("COPY", "/w/s").header("Destination", "_local/t?rev=0-3").send();
    assertThat(local.status()).isEqualTo(201);
    assertThat(local.body()).isEqualTo("{\"ok\":true,\"id\":\"_local/t\",\"rev\":\"0-4\"}\n");
    assertThat(server.get("/w/_local/t").body())
        .isEqualTo("{\"_id\":\"_local/t\",\"_rev\":\"0-4\",\"v\":1}\n");

    assertThat(
            server.request("COPY", "/w/_local/l").header("Destination", "d").send().member("rev"))
        .startsWith("1-");
    assertThat(server.get("/w/d").body()).contains("\"v\":2");
    assertThat(server.request("COPY", "/w/_local/none").header("Destination", "d").send().status())
        .isEqualTo(404);
    assertThat(
            server
                .request("COPY", "/w/_local/l?rev=0-1")
                .header("Destination", "e")
                .send()
                .status())
        .as("it has no revisions to choose from")
        .isEqualTo(404);
  }

  @Test
  void a_tombstone_is_copied_as_one() {
    String one = server.write("/w/s", "{}");
    String two = server.delete("/w/s?rev=" + one).member("rev");

    Answer copy = server.request("COPY", "/w/s?rev=" + two).header("Destination", "t").send();
    assertThat(copy.status()).isEqualTo(201);
    assertThat(server.get("/w/t").member("reason")).isEqualTo("deleted");
    assertThat(server.request("COPY", "/w/s").header("Destination", "t").send().status())
        .isEqualTo(404);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "u%2Fv           | 201 | u/v",
        "u v             | 201 | u v",
        "u+v             | 201 | u v",
        "HTTP://x/y      | 201 | HTTP://x/y",
        "/w/z            | 201 | /w/z",
        "_design/c       | 201 | _design/c",
        "t?rev=1-b       | 409 | conflict",
        "t?foo=1-b       | 409 | conflict",
        "t?rev=x         | 400 | bad_request",
        "t?rev           | 400 | bad_request",
        "http://host/w/x | 400 | bad_request",
        "https://x/y     | 400 | bad_request",
        "?rev=1-b        | 400 | illegal_docid",
        "_x              | 400 | illegal_docid",
      })
  void destinations(String destination, int status, String idOrError) {
    server.write("/w/s", "{}");
    server.write("/w/t", "{}");

    Answer copy = server.request("COPY", "/w/s").header("Destination", destination).send();
    assertThat(copy.status()).isEqualTo(status);
    assertThat(copy.member(status == 201 ? "id" : "error")).isEqualTo(idOrError);
    Answer late =
        server.request("COPY", "/w/s?batch=ok").header("Destination", "late" + status).send();
    assertThat(late.status()).as("copies are not put off").isEqualTo(201);
  }

  @Test
  void copy_wants_a_source_and_a_relative_destination() {
    server.write("/w/s", "{}");

    assertThat(server.request("COPY", "/w/s").send().member("reason"))
        .isEqualTo("Destination header is mandatory for COPY.");
    assertThat(
            server
                .request("COPY", "/w/s")
                .header("Destination", "http://host/w/x")
                .send()
                .member("reason"))
        .isEqualTo("Destination URL must be relative.");
    assertThat(server.request("COPY", "/w/none").header("Destination", "x").send().status())
        .isEqualTo(404);
    assertThat(server.request("COPY", "/w/s").header("Destination", "_x").send().status())
        .isEqualTo(400);
  }
}
