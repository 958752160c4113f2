package lectus.http.document;

import static lectus.http.testing.SingleQuotes.json;
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
            "/w/a", json("{'v':1,'_attachments':{'old':{'data':'YQ=='},'x':{'data':'Yg=='}}}"));
  }

  private static String field(String name, String value) {
    return "--B\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n";
  }

  private static String file(String name, String type, String bytes) {
    return json("--B\r\n"
            + "Content-Disposition: form-data; name='_attachments'; filename='%s'\r\n"
            + "Content-Type: %s\r\n\r\n"
            + "%s\r\n")
        .formatted(name, type, bytes);
  }

  private Answer post(String target, String... parts) {
    return server
        .request(
            "POST",
            target,
            "Content-Type",
            "multipart/form-data; boundary=B",
            "Referer",
            "http://host/_utils/")
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
    server.get("/w/a/gr%C3%B6%C3%9Fe%20x.png").expect("\r\n--\r\n--A");
    server.get("/w/a/x").expect("new");
    server.get("/w/a/old").expect("a");
  }

  @Test
  void a_form_with_a_document_replaces_it_or_makes_one() {
    Answer made = post("/w/_design/n", field("_doc", "{\"v\":2}"), file("f", "a/b", "c"));
    assertThat(made.status()).as(made.body()).isEqualTo(201);
    assertThat(server.get("/w/_design/n/f").header("content-type")).isEqualTo("a/b");
    String stub = "{\"_rev\":\"" + rev + "\",\"v\":3,\"_attachments\":{\"old\":{\"stub\":true}}}";
    post("/w/a", file("f", "a/b", "c"), field("_doc", stub)).expect(201);
    assertThat(server.get("/w/a").body()).contains("\"v\":3", "\"old\"", "\"f\"");
    server.get("/w/a/x").expect(404);
  }

  @Test
  void what_is_wrong_with_a_form_stores_nothing() {
    String file = file("f", "a/b", "c");
    assertThat(post("/w/a", file).member("reason")).isEqualTo("The form needs _rev or _doc.");
    post("/w/a", file, field("_rev", "x")).expect(400);
    post("/w/a", file, field("_rev", "9-a")).expect(409);
    post("/w/none", file, field("_rev", rev)).expect(409);
    post("/w/a", file, field("_doc", "{}")).expect(409);
    assertThat(post("/w/a", field("_rev", rev), file("_f", "a/b", "c")).member("reason"))
        .isEqualTo("Attachment name '_f' starts with prohibited character '_'");
    post("/w/a", field("_rev", rev), field("x", "").repeat(999)).expect(201);
    post("/w/a", field("_rev", rev), field("x", "").repeat(1_000)).expect(413);
    post("/none/a", file, field("_rev", rev)).expect(404);
    server.get("/w/a/f").expect(404);
  }
}
