package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Forms as browsers send them, with files for a document. */
class FormAttachmentsTest {
  @RegisterExtension static final LectusServer server = LectusServer.shared();

  private String rev;

  @BeforeEach
  void a_document() {
    server.put("/w");
    rev =
        server.write(
            "/w/a",
            "{\"v\":1,\"_attachments\":{\"old\":{\"data\":\"YQ==\"},\"x\":{\"data\":\"Yg==\"}}}");
  }

  private static String field(String name, String value) {
    return "--B\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n";
  }

  private static String file(String name, String type, String bytes) {
    return "--B\r\nContent-Disposition: form-data; name=\"_attachments\"; filename=\""
        + name
        + "\"\r\nContent-Type: "
        + type
        + "\r\n\r\n"
        + bytes
        + "\r\n";
  }

  private Answer post(String target, String... parts) {
    return server
        .request("POST", target)
        .header("Content-Type", "multipart/form-data; boundary=B")
        .header("Referer", "http://host/_utils/")
        .body((String.join("", parts) + "--B--\r\n").getBytes(StandardCharsets.UTF_8))
        .send();
  }

  @Test
  void files_are_added_to_the_document_and_replace_those_of_their_name() {
    Answer answer =
        post(
            "/w/a",
            file("größe x.png", "image/png", "\r\n--\r\n--A"),
            field("_rev", rev),
            file("x", "text/x", "new"));

    assertThat(answer.status()).as(answer.body()).isEqualTo(201);
    assertThat(answer.header("etag")).isEqualTo('"' + answer.member("rev") + '"');
    assertThat(server.get("/w/a").body())
        .contains("\"v\":1", "\"old\"", "\"größe x.png\":{\"content_type\":\"image/png\"");
    assertThat(server.get("/w/a/gr%C3%B6%C3%9Fe%20x.png").body()).isEqualTo("\r\n--\r\n--A");
    assertThat(server.get("/w/a/x").body()).isEqualTo("new");
    assertThat(server.get("/w/a/old").body()).isEqualTo("a");
  }

  @Test
  void a_form_with_a_document_replaces_it_or_makes_one() {
    Answer made = post("/w/_design/n", field("_doc", "{\"v\":2}"), file("f", "a/b", "c"));
    assertThat(made.status()).as(made.body()).isEqualTo(201);
    assertThat(server.get("/w/_design/n/f").header("content-type")).isEqualTo("a/b");
    String stub = "{\"_rev\":\"" + rev + "\",\"v\":3,\"_attachments\":{\"old\":{\"stub\":true}}}";
    assertThat(post("/w/a", file("f", "a/b", "c"), field("_doc", stub)).status()).isEqualTo(201);
    assertThat(server.get("/w/a").body()).contains("\"v\":3", "\"old\"", "\"f\"");
    assertThat(server.get("/w/a/x").status()).isEqualTo(404);
  }

  @Test
  void what_is_wrong_with_a_form_stores_nothing() {
    String file = file("f", "a/b", "c");
    assertThat(post("/w/a", file).member("reason")).isEqualTo("The form needs _rev or _doc.");
    assertThat(post("/w/a", file, field("_rev", "x")).status()).isEqualTo(400);
    assertThat(post("/w/a", file, field("_rev", "9-a")).status()).isEqualTo(409);
    assertThat(post("/w/none", file, field("_rev", rev)).status()).isEqualTo(409);
    assertThat(post("/w/a", file, field("_doc", "{}")).status()).isEqualTo(409);
    assertThat(post("/w/a", field("_rev", rev), file("_f", "a/b", "c")).member("reason"))
        .isEqualTo("Attachment name '_f' starts with prohibited character '_'");
    assertThat(post("/w/a", field("_rev", rev), field("x", "").repeat(999)).status())
        .isEqualTo(201);
    assertThat(post("/w/a", field("_rev", rev), field("x", "").repeat(1_000)).status())
        .isEqualTo(413);
    assertThat(post("/none/a", file, field("_rev", rev)).status()).isEqualTo(404);
    assertThat(server.get("/w/a/f").status()).isEqualTo(404);
  }
}
